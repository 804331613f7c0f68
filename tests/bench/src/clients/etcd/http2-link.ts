import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { FrameReader, frame } from "./frames.ts";
import type { EtcdLink, EtcdStream } from "./link.ts";

/** Room for everything that can be under way, so that flow control does not slow the peer down. */
const windowBytes = 16 * 1024 * 1024;

/**
 * etcd through the fastest client that can be made for it in Node.js: gRPC's frames written by hand on node:http2, all
 * messages of one turn of the event loop in one write.
 */
export class Http2Link implements EtcdLink {
  readonly #session: ClientHttp2Session;

  private constructor(session: ClientHttp2Session) {
    this.#session = session;
  }

  static async open(endpoint: string): Promise<Http2Link> {
    const session = connect(`http://${endpoint}`, { settings: { initialWindowSize: windowBytes } });
    await once(session, "connect");
    session.setLocalWindowSize(windowBytes);
    // The end of a benchmark closes the connection under its streams.
    session.on("error", () => {});
    return new Http2Link(session);
  }

  unary(method: string, request: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const stream = this.#request(method);
      let answer: Uint8Array | undefined;
      const reader = new FrameReader((message) => {
        answer = message;
      });
      stream.on("data", (chunk: Buffer) => reader.take(chunk));
      stream.on("trailers", (trailers) => {
        const isOk = trailers["grpc-status"] === "0" && answer !== undefined;
        if (isOk && answer !== undefined) resolve(answer);
        else reject(new Error(`${method}: ${trailers["grpc-message"] ?? "no answer"}`));
      });
      stream.on("error", reject);
      stream.end(frame(request));
    });
  }

  stream(method: string, onMessage: (message: Uint8Array) => void): EtcdStream {
    const stream = this.#request(method);
    const reader = new FrameReader(onMessage);
    stream.on("data", (chunk: Buffer) => reader.take(chunk));
    stream.on("error", () => {});
    let waiting: Buffer[] = [];
    const flush = () => {
      stream.write(waiting.length === 1 ? waiting[0] : Buffer.concat(waiting));
      waiting = [];
    };
    return {
      send(message) {
        if (waiting.push(frame(message)) === 1) process.nextTick(flush);
      },
      end: () => stream.close(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#session.destroy();
  }

  #request(method: string): ClientHttp2Stream {
    return this.#session.request({
      ":method": "POST",
      ":path": method,
      "content-type": "application/grpc",
      te: "trailers",
    });
  }
}
