import { GrpcLink } from "../etcd/grpc-link.ts";
import type { EtcdStream } from "../etcd/link.ts";
import { PartialClient } from "../partial-client.ts";

/** The methods of the echo process. */
export const echoMethods = { unary: "/bench.Echo/Unary", stream: "/bench.Echo/Stream" } as const;

const payload = Buffer.alloc(100, 7);

/** Round trips over grpc-js to another process and back: a call each, or messages of one stream. */
export class GrpcEcho extends PartialClient {
  readonly #link: GrpcLink;
  readonly #stream: EtcdStream | undefined;
  readonly #waiting: (() => void)[] = [];

  constructor(endpoint: string, kind: "unary" | "stream") {
    super();
    this.#link = new GrpcLink(endpoint);
    if (kind === "stream") this.#stream = this.#link.stream(echoMethods.stream, () => this.#waiting.shift()?.());
  }

  override async pair(): Promise<void> {
    const stream = this.#stream;
    if (stream === undefined) {
      await this.#link.unary(echoMethods.unary, payload);
      return;
    }
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      stream.send(payload);
    });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#link[Symbol.asyncDispose]();
  }
}
