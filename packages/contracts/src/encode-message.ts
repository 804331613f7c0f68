import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** What encodes messages of one type. */
interface MessageEncoder<Message> {
  encode(message: Message, writer?: BinaryWriter): { finish(): Uint8Array };
}

/** A buffer that has grown beyond this is not kept for the next message. */
const keptBytes = 65_536;

/** Messages of these sizes share memory: one of its own for each costs more than to encode it. Smaller ones V8 keeps itself. */
const sharedBytes = { least: 65, most: 1_024 };
const slabBytes = 16_384;

const noBytes: Uint8Array = new Uint8Array(0);

let writer = new BinaryWriter();
let slab = new ArrayBuffer(slabBytes);
let slabUsed = 0;

/**
 * The bytes of a message. The same as `type.encode(message).finish()`, but with a buffer that is used again: allocating
 * and growing one for each message costs as much as writing it. `rest` are further fields of it, encoded before. What is
 * returned may be a part of a larger buffer: whoever keeps it for long copies it.
 */
export function encodeMessage<Message>(type: MessageEncoder<Message>, message: Message, rest = noBytes): Uint8Array {
  try {
    const encoded = type.encode(message, writer);
    const bytes = rest.length === 0 && encoded !== writer ? encoded.finish() : take(writer, rest);
    if (bytes.length > keptBytes) writer = new BinaryWriter();
    return bytes;
  } catch (thrown) {
    // What was written of a message that cannot be encoded must not precede the next one.
    writer = new BinaryWriter();
    throw thrown;
  }
}

/** What a writer keeps to itself; a test fails when an upgrade changes it. */
interface Written {
  readonly buffer: Uint8Array;
  pos: number;
}

/** All that was written and the rest, which is what `finish` gives, without memory of its own for each. */
function take(from: BinaryWriter, rest: Uint8Array): Uint8Array {
  if (rest.length > 0) from.raw(rest);
  const written = from as unknown as Written;
  const { buffer, pos: size } = written;
  if (!(size >= sharedBytes.least && size <= sharedBytes.most)) return from.finish();
  if (slabUsed + size > slabBytes) {
    slab = new ArrayBuffer(slabBytes);
    slabUsed = 0;
  }
  const bytes = new Uint8Array(slab, slabUsed, size);
  for (let place = 0; place < size; place += 1) bytes[place] = buffer[place] ?? 0;
  slabUsed += size;
  written.pos = 0;
  return bytes;
}
