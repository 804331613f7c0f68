import { Client, credentials } from "@grpc/grpc-js";
import type { EtcdLink, EtcdStream } from "./link.ts";

const toBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const asIs = (bytes: Buffer) => bytes;

/** etcd as every application on Node.js reaches it: through grpc-js. */
export class GrpcLink implements EtcdLink {
  readonly #client: Client;

  constructor(endpoint: string) {
    this.#client = new Client(endpoint, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  }

  unary(method: string, request: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(method, toBuffer, asIs, request, (error, response) => {
        if (error === null && response !== undefined) resolve(response);
        else reject(error ?? new Error(`${method} was not answered`));
      });
    });
  }

  stream(method: string, onMessage: (message: Uint8Array) => void): EtcdStream {
    const duplex = this.#client.makeBidiStreamRequest<Uint8Array, Buffer>(method, toBuffer, asIs);
    duplex.on("data", onMessage);
    // The end of a benchmark cancels its streams.
    duplex.on("error", () => {});
    return { send: (message) => void duplex.write(message), end: () => duplex.cancel() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
  }
}
