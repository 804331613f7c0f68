import { fileDescriptorSetBase64 } from "./gen/descriptors.ts";

/** The encoded google.protobuf.FileDescriptorSet of the whole API, for gRPC reflection. A fresh copy for each call. */
export function fileDescriptorSet(): Uint8Array {
  return Uint8Array.from(Buffer.from(fileDescriptorSetBase64, "base64"));
}
