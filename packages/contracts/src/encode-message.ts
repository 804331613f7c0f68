import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** What encodes messages of one type. */
interface MessageEncoder<Message> {
  encode(message: Message, writer?: BinaryWriter): { finish(): Uint8Array };
}

/** A buffer that has grown beyond this is not kept for the next message. */
const keptBytes = 65_536;

const noBytes: Uint8Array = new Uint8Array(0);

let writer = new BinaryWriter();

/**
 * The bytes of a message. The same as `type.encode(message).finish()`, but with a buffer that is used again: allocating
 * and growing one for each message costs as much as writing it. `rest` are further fields of it, encoded before.
 */
export function encodeMessage<Message>(type: MessageEncoder<Message>, message: Message, rest = noBytes): Uint8Array {
  try {
    const encoded = type.encode(message, writer);
    const bytes = (rest.length === 0 ? encoded : writer.raw(rest)).finish();
    if (bytes.length > keptBytes) writer = new BinaryWriter();
    return bytes;
  } catch (thrown) {
    // What was written of a message that cannot be encoded must not precede the next one.
    writer = new BinaryWriter();
    throw thrown;
  }
}
