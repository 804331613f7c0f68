import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** What encodes messages of one type. */
interface MessageEncoder<Message> {
  encode(message: Message, writer?: BinaryWriter): { finish(): Uint8Array };
}

/** A buffer that has grown beyond this is not kept for the next message. */
const keptBytes = 65_536;

let writer = new BinaryWriter();

/**
 * The bytes of a message. The same as `type.encode(message).finish()`, but with a buffer that is used again: allocating
 * and growing one for each message costs as much as writing it.
 */
export function encodeMessage<Message>(type: MessageEncoder<Message>, message: Message): Uint8Array {
  try {
    const bytes = type.encode(message, writer).finish();
    if (bytes.length > keptBytes) writer = new BinaryWriter();
    return bytes;
  } catch (thrown) {
    // What was written of a message that cannot be encoded must not precede the next one.
    writer = new BinaryWriter();
    throw thrown;
  }
}
