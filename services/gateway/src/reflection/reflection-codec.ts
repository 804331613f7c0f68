import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** What a client asks of the reflection service. */
export type ReflectionQuestion =
  | { readonly kind: "file"; readonly name: string }
  | { readonly kind: "symbol"; readonly name: string }
  | { readonly kind: "services" }
  | { readonly kind: "extension"; readonly name: string }
  | { readonly kind: "none" };

/** What it is answered. */
export type ReflectionAnswer =
  | { readonly kind: "files"; readonly files: readonly Uint8Array[] }
  | { readonly kind: "services"; readonly names: readonly string[] }
  | { readonly kind: "error"; readonly code: number; readonly message: string };

/**
 * The numbers of grpc.reflection.v1 and v1alpha, which are the same. The two messages are small and will not change, so
 * they are read and written here.
 */
const question = { host: 1, file: 3, symbol: 4, extension: 5, extensionNumbers: 6, services: 7 } as const;
const answer = { host: 1, question: 2, files: 4, services: 6, error: 7 } as const;

/** Reads a ServerReflectionRequest; throws when it is none. The last question of a message counts. */
export function decodeQuestion(bytes: Uint8Array): ReflectionQuestion {
  const reader = new BinaryReader(bytes);
  let asked: ReflectionQuestion = { kind: "none" };
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (wireType !== WireType.LengthDelimited) reader.skip(wireType, field);
    else if (field === question.file) asked = { kind: "file", name: reader.string() };
    else if (field === question.symbol) asked = { kind: "symbol", name: reader.string() };
    else if (field === question.extensionNumbers) asked = { kind: "extension", name: reader.string() };
    else if (field === question.services) asked = withSkipped(reader, { kind: "services" });
    else if (field === question.extension) asked = withSkipped(reader, { kind: "extension", name: "" });
    else reader.bytes();
  }
  return asked;
}

function withSkipped(reader: BinaryReader, asked: ReflectionQuestion): ReflectionQuestion {
  reader.bytes();
  return asked;
}

/** Writes a ServerReflectionResponse; `original` is the request that it answers. */
export function encodeAnswer(original: Uint8Array, given: ReflectionAnswer): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(answer.question, WireType.LengthDelimited).bytes(original);
  if (given.kind === "files") {
    writer.tag(answer.files, WireType.LengthDelimited).fork();
    for (const file of given.files) writer.tag(1, WireType.LengthDelimited).bytes(file);
    writer.join();
  } else if (given.kind === "services") {
    writer.tag(answer.services, WireType.LengthDelimited).fork();
    for (const name of given.names) {
      writer.tag(1, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).string(name).join();
    }
    writer.join();
  } else {
    writer.tag(answer.error, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Varint).int32(given.code);
    writer.tag(2, WireType.LengthDelimited).string(given.message).join();
  }
  return writer.finish();
}
