import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";

interface IndexedFile {
  readonly bytes: Uint8Array;
  readonly dependencies: readonly string[];
}

/** The files of an API, found by their names and by what they define. */
export class DescriptorIndex {
  readonly #files = new Map<string, IndexedFile>();
  readonly #fileOf = new Map<string, string>();

  /** `descriptors` is an encoded google.protobuf.FileDescriptorSet with everything that its files import. */
  constructor(descriptors: Uint8Array) {
    for (const file of fromBinary(FileDescriptorSetSchema, descriptors).file) {
      this.#files.set(file.name, {
        bytes: toBinary(FileDescriptorProtoSchema, file),
        dependencies: file.dependency,
      });
      for (const symbol of symbolsOf(file)) this.#fileOf.set(symbol, file.name);
    }
  }

  /** A file and all that it imports, each once; undefined if there is no such file. */
  withImports(name: string): readonly Uint8Array[] | undefined {
    if (!this.#files.has(name)) return undefined;
    const seen = new Set<string>();
    const visit = (each: string) => {
      if (seen.has(each)) return;
      seen.add(each);
      for (const dependency of this.#files.get(each)?.dependencies ?? []) visit(dependency);
    };
    visit(name);
    return [...seen].flatMap((each) => this.#files.get(each)?.bytes ?? []);
  }

  /** The name of the file that defines a service, method, message or enum, by its full name. */
  fileOf(symbol: string): string | undefined {
    return this.#fileOf.get(symbol);
  }
}

function symbolsOf(file: FileDescriptorProto): readonly string[] {
  const inPackage = (name: string) => (file.package === "" ? name : `${file.package}.${name}`);
  return [
    ...file.service.flatMap(({ method, name }) => [
      inPackage(name),
      ...method.map((each) => `${inPackage(name)}.${each.name}`),
    ]),
    ...file.enumType.map(({ name }) => inPackage(name)),
    ...file.messageType.flatMap((message) => messageSymbols(message, inPackage(message.name))),
  ];
}

function messageSymbols(message: DescriptorProto, fullName: string): readonly string[] {
  return [
    fullName,
    ...message.enumType.map(({ name }) => `${fullName}.${name}`),
    ...message.nestedType.flatMap((nested) => messageSymbols(nested, `${fullName}.${nested.name}`)),
  ];
}
