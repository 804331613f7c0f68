import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { encodeStatusDetails, SessionServiceSessionRequest, SessionServiceSessionResponse } from "@tenure/contracts";
import { Fault, systemClock, systemRandom } from "@tenure/kernel";
import { frameMessage, MessageReader } from "@tenure/session/http2";
import { afterEach, describe, expect, it } from "vitest";
import type { TenureError } from "../errors.ts";
import type { TransportListener } from "../transport/transport.ts";
import { GrpcTransport } from "./grpc-transport.ts";

let server: Http2Server | undefined;
let transport: GrpcTransport | undefined;

afterEach(async () => {
  await transport?.[Symbol.asyncDispose]();
  server?.close();
});

type Serve = (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void;

/** Starts a server that answers as `serve` says, and a transport to it. */
async function transportTo(serve: Serve, metadata?: Record<string, string>): Promise<GrpcTransport> {
  return transportAt(await listen(serve), metadata);
}

async function listen(serve: Serve): Promise<number> {
  const started = createServer();
  server = started;
  started.on("stream", serve);
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  const { port } = started.address() as AddressInfo;
  return port;
}

function transportAt(port: number, metadata?: Record<string, string>): GrpcTransport {
  const options = { clock: systemClock, random: systemRandom, userAgent: "test", metadata };
  transport = new GrpcTransport({ ...options, endpoints: [`127.0.0.1:${port}`] });
  return transport;
}

/** A promise that is kept from outside. */
class Expected<Value> {
  resolve: (value: Value) => void = () => {};
  readonly promise = new Promise<Value>((resolve) => {
    this.resolve = resolve;
  });
}

/** Notes what a stream tells. */
class Notes implements TransportListener {
  readonly closed = new Expected<TenureError>();
  readonly message = new Expected<SessionServiceSessionResponse>();

  onMessage(message: SessionServiceSessionResponse): void {
    this.message.resolve(message);
  }

  onWritable(): void {}

  onClosed(why: TenureError): void {
    this.closed.resolve(why);
  }
}

const request = SessionServiceSessionRequest.fromPartial({ sendNumber: 7n });
const ok = { ":status": 200, "content-type": "application/grpc" };

/** Ends a stream with trailers. */
function endWith(stream: ServerHttp2Stream, trailers: Record<string, string>): void {
  stream.respond(ok, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end();
}

describe("a stream to a gateway", () => {
  it("carries messages both ways, with the caller's metadata, and is over when both sides have ended", async () => {
    const notes = new Notes();
    const ended = new Expected<void>();
    const seen: unknown[] = [];
    const serve: Serve = (stream, headers) => {
      seen.push(headers.authorization, headers[":path"], headers.te);
      stream.respond(ok, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      const reader = new MessageReader(1_000, (bytes) => {
        const receivedNumber = SessionServiceSessionRequest.decode(bytes).sendNumber;
        const answer = SessionServiceSessionResponse.fromPartial({ receivedNumber });
        stream.write(frameMessage(SessionServiceSessionResponse.encode(answer).finish()));
      });
      stream.on("data", (chunk: Buffer) => reader.take(chunk));
      stream.on("end", () => {
        stream.end();
        ended.resolve();
      });
    };
    const stream = (await transportTo(serve, { authorization: "Bearer x" })).open(notes);
    expect(stream.send(request)).toBe(true);
    expect((await notes.message.promise).receivedNumber).toBe(7n);
    expect(seen).toEqual(["Bearer x", "/tenure.v1.SessionService/Session", "trailers"]);
    stream.close();
    await ended.promise;
    await transport?.[Symbol.asyncDispose]();
    expect(stream.send(request)).toBe(false);
  });

  it("ends with the server's own fault", async () => {
    const fault = new Fault({ code: "RESOURCE_EXHAUSTED", reason: "LIMIT_EXCEEDED", message: "full" });
    const details = Buffer.from(encodeStatusDetails(fault)).toString("base64");
    const notes = new Notes();
    const trailers = { "grpc-status": "8", "grpc-message": "full", "grpc-status-details-bin": details };
    (await transportTo((stream) => endWith(stream, trailers))).open(notes).send(request);
    expect(await notes.closed.promise).toMatchObject({ code: "RESOURCE_EXHAUSTED", reason: "LIMIT_EXCEEDED" });
  });

  it.each<[string, Serve, object]>([
    [
      "a status and no more",
      (stream) => stream.respond({ ...ok, "grpc-status": "16", "grpc-message": "no%20entry" }, { endStream: true }),
      { code: "UNAUTHENTICATED", message: expect.stringContaining("no entry") },
    ],
    ["a clean end", (stream) => endWith(stream, { "grpc-status": "0" }), { code: "UNAVAILABLE", retryable: true }],
    [
      "no gRPC at all",
      (stream) => stream.respond({ ":status": 503 }, { endStream: true }),
      { code: "UNAVAILABLE", message: expect.stringContaining("HTTP status 503") },
    ],
    [
      "what cannot be read",
      (stream) => {
        stream.respond(ok);
        stream.write(Buffer.from([1, 0, 0, 0, 0]));
      },
      { code: "UNAVAILABLE", message: expect.stringContaining("compressed") },
    ],
    ["a cut", (stream) => stream.session?.destroy(), { code: "UNAVAILABLE", reason: "SESSION_BROKEN" }],
  ])("ends when the server answers with %s", async (_, serve, expected) => {
    const notes = new Notes();
    (await transportTo(serve)).open(notes).send(request);
    expect(await notes.closed.promise).toMatchObject(expected);
  });

  it("never comes about where nobody listens, and says so", async () => {
    const port = await listen(() => {});
    await new Promise((resolve) => server?.close(resolve));
    const notes = new Notes();
    transportAt(port).open(notes).send(request);
    expect(await notes.closed.promise).toMatchObject({ message: expect.stringContaining("ECONNREFUSED") });
  });

  it("may be closed at any moment of its connecting", async () => {
    const opening = await transportTo(() => {});
    for (let number = 0; number < 60; number += 1) {
      const stream = opening.open(new Notes());
      const wait = (turns: number): void => void setImmediate(() => (turns === 0 ? stream.close() : wait(turns - 1)));
      wait(number % 6);
    }
    await opening[Symbol.asyncDispose]();
  });
});
