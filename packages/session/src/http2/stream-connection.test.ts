import { once } from "node:events";
import { type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { FrameType, frame, numbersFrame, settingsFrame } from "./frames.ts";
import type { Headers } from "./header-block.ts";
import { frameMessage, type Unreadable } from "./message-frames.ts";
import { clientOpening, headersFrames, preface, serverOpening } from "./opening.ts";
import { ProtocolError } from "./protocol-error.ts";
import { StreamConnection, type StreamListener } from "./stream-connection.ts";

const request = { ":method": "POST", ":scheme": "http", ":authority": "here", ":path": "/a/b" };
const response = { ":status": "200" };
const most = 4 * 1024 * 1024;

/** Notes what a connection tells, and lets one wait for it. */
class Notes implements StreamListener {
  readonly headers: Headers[] = [];
  readonly messages: Uint8Array[] = [];
  readonly told: string[] = [];
  failure: Error | undefined;
  #wake = () => {};

  onHeaders(headers: Headers): void {
    this.headers.push(headers);
    this.#tell("headers");
  }

  onMessage(message: Uint8Array): void {
    this.messages.push(message);
    this.#tell("message");
  }

  onUnreadable(error: Unreadable): void {
    this.failure = error;
    this.#tell("unreadable");
  }

  onEnd(): void {
    this.#tell("end");
  }

  onWritable(): void {
    this.#tell("writable");
  }

  onClosed(failure: Error | undefined): void {
    this.failure ??= failure;
    this.#tell("closed");
  }

  async heard(what: string, times = 1): Promise<void> {
    while (this.told.filter((one) => one === what).length < times) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #tell(what: string): void {
    this.told.push(what);
    this.#wake();
  }
}

let server: Server | undefined;

afterEach(() => server?.close());

/** A server that serves its first connection, whose preface comes in one piece. */
async function listen() {
  const started = createServer();
  server = started;
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  const accept = async () => {
    const [socket] = (await once(started, "connection")) as [Socket];
    const [bytes] = (await once(socket, "data")) as [Buffer];
    const notes = new Notes();
    const connection = new StreamConnection(socket, serverOpening, most, notes);
    connection.take(bytes.subarray(preface.length));
    return { connection, notes };
  };
  return { port: (started.address() as AddressInfo).port, accepted: accept() };
}

/** Two connections that speak with each other. */
async function pair() {
  const { accepted, port } = await listen();
  const notes = new Notes();
  const socket = connect(port, "127.0.0.1");
  const connection = new StreamConnection(socket, clientOpening(request), most, notes);
  return { client: { connection, notes, socket }, served: await accepted };
}

/** A served connection whose client sends bytes as they are, and what it is answered. */
async function rawClient(...frames: Buffer[]) {
  const { accepted, port } = await listen();
  const socket = connect(port, "127.0.0.1");
  const answers: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => answers.push(chunk));
  socket.write(Buffer.concat([preface, settingsFrame([]), ...frames]));
  const served = await accepted;
  return { served, socket, answered: () => Buffer.concat(answers) };
}

describe("a stream on a connection of its own", () => {
  it("carries headers, messages and ends both ways", async () => {
    const { client, served } = await pair();
    expect(served.notes.headers).toEqual([request]);
    expect(client.connection.send(Buffer.from("question"))).toBe(true);
    client.connection.end();
    await served.notes.heard("end");
    expect(served.notes.messages).toEqual([Buffer.from("question")]);
    served.connection.respond(response);
    served.connection.send(Buffer.alloc(0));
    served.connection.end({ "grpc-status": "0", "grpc-message": "x".repeat(40_000) });
    await client.notes.heard("closed");
    expect(client.notes.told).toEqual(["headers", "message", "headers", "end", "closed"]);
    expect(client.notes.headers[1]).toEqual({ "grpc-status": "0", "grpc-message": "x".repeat(40_000) });
    expect(client.notes.failure).toBeUndefined();
  });

  it("carries more than all windows, in order, and says when to wait and when to go on", async () => {
    const { client, served } = await pair();
    const large = Array.from({ length: 24 }, (_, number) => Buffer.alloc(most / 4 - number, number));
    const isFull = large.map((message) => client.connection.send(message)).includes(false);
    expect(isFull).toBe(true);
    client.connection.end();
    await served.notes.heard("end");
    await client.notes.heard("writable");
    expect(served.notes.messages.map((message) => [message.length, message[0]])).toEqual(
      large.map((message) => [message.length, message[0]]),
    );
    client.connection.destroy();
  });

  it("answers pings and gets answers to its own", async () => {
    const { client, served } = await pair();
    await new Promise<void>((resolve) => client.connection.ping(resolve));
    await new Promise<void>((resolve) => served.connection.ping(resolve));
    client.connection.destroy();
    await served.notes.heard("closed");
  });

  it("is served to another implementation's client, headers shortened and all", async () => {
    const { accepted, port } = await listen();
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    const stream: ClientHttp2Stream = session.request({ ...request, "x-text": "shortened by Huffman's code" });
    stream.on("error", () => {});
    const { connection, notes } = await accepted;
    await notes.heard("headers");
    expect(notes.headers[0]).toMatchObject({ "x-text": "shortened by Huffman's code" });
    const body = Buffer.alloc(200_000, 7);
    stream.write(frameMessage(body));
    await notes.heard("message");
    connection.respond(response);
    connection.send(body);
    const [trailers] = await Promise.all([
      once(stream, "trailers"),
      read(stream),
      connection.end({ "grpc-status": "0" }),
    ]);
    expect(trailers[0]).toMatchObject({ "grpc-status": "0" });
    session.destroy();
  });

  it("takes padding, priorities, headers in pieces and frames that it does not know", async () => {
    const block = headersFrames(request, false).subarray(9);
    const padded = Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 9]), block.subarray(0, 10), Buffer.alloc(2)]);
    const message = frameMessage(Buffer.from("padded"));
    const { served, socket } = await rawClient(
      frame(FrameType.headers, 0x28, 1, padded),
      frame(FrameType.continuation, 0x4, 1, block.subarray(10)),
      frame(0xee, 0, 1, Buffer.from("unknown")),
      frame(FrameType.data, 0x8, 1, Buffer.concat([Buffer.from([3]), message, Buffer.alloc(3)])),
    );
    await served.notes.heard("message");
    expect(served.notes.headers).toEqual([request]);
    expect(served.notes.messages).toEqual([Buffer.from("padded")]);
    socket.destroy();
  });

  it("refuses a second stream and goes on with the first", async () => {
    const second = headersFrames(request, false);
    second.writeUInt32BE(3, 5);
    const { answered, served, socket } = await rawClient(headersFrames(request, false), second);
    socket.write(frame(FrameType.data, 0, 1, frameMessage(Buffer.from("first"))));
    await served.notes.heard("message");
    while (!answered().includes(numbersFrame(FrameType.reset, 3, 7))) await once(socket, "data");
    socket.destroy();
  });

  it.each<[string, Buffer]>([
    ["data before headers", frame(FrameType.data, 0, 1, Buffer.alloc(1))],
    ["a promise", frame(FrameType.pushPromise, 0, 1, Buffer.alloc(4))],
    ["a window of nothing", numbersFrame(FrameType.windowUpdate, 0, 0)],
    ["a window beyond all bounds", numbersFrame(FrameType.windowUpdate, 0, 0x7fff_ffff)],
    ["settings that are cut off", frame(FrameType.settings, 0, 0, Buffer.alloc(5))],
    [
      "headers that go on with something else",
      Buffer.concat([frame(1, 0, 1, Buffer.alloc(0)), frame(6, 0, 0, Buffer.alloc(8))]),
    ],
    [
      "headers without an end",
      Buffer.concat([
        frame(1, 0, 1, Buffer.alloc(16_384)),
        ...Array<Buffer>(4).fill(frame(9, 0, 1, Buffer.alloc(16_384))),
      ]),
    ],
    [
      "headers that go on with nothing",
      Buffer.concat([frame(1, 0, 1, Buffer.alloc(1)), frame(9, 0, 1, Buffer.alloc(0))]),
    ],
    [
      "headers in crumbs",
      Buffer.concat([frame(1, 0, 1, Buffer.alloc(1)), ...Array<Buffer>(16).fill(frame(9, 0, 1, Buffer.alloc(1)))]),
    ],
    ["headers again and again", Buffer.concat(Array<Buffer>(17).fill(headersFrames(request, false)))],
    ["a ping of no size", frame(FrameType.ping, 0, 0, Buffer.alloc(9))],
    ["data after its end", Buffer.concat([headersFrames(request, true), frame(0, 0, 1, Buffer.alloc(1))])],
    ["only padding", Buffer.concat([headersFrames(request, false), frame(0, 0x8, 1, Buffer.from([9, 0]))])],
  ])("ends with the reason when the peer sends %s", async (_, bytes) => {
    const { answered, served, socket } = await rawClient(bytes);
    await once(socket, "close");
    await served.notes.heard("closed");
    expect(served.notes.failure).toBeInstanceOf(ProtocolError);
    expect(answered().includes(Buffer.from([0, 0, 8, FrameType.goAway]))).toBe(true);
  });

  it("hears no messages after its own end", async () => {
    const { served, socket } = await rawClient(headersFrames(request, false));
    served.connection.end({ ...response, "grpc-status": "0" });
    served.connection.take(frame(FrameType.data, 0, 1, frameMessage(Buffer.from("late"))));
    expect(served.notes.told).toEqual(["headers"]);
    socket.destroy();
  });

  it("reads nothing more after what is no message", async () => {
    const compressed = frame(FrameType.data, 0, 1, Buffer.from([1, 0, 0, 0, 0]));
    const { served, socket } = await rawClient(headersFrames(request, false), compressed, compressed);
    await served.notes.heard("unreadable");
    served.connection.end({ ...response, "grpc-status": "3" });
    await once(socket, "end");
    expect(served.notes.told.filter((one) => one === "unreadable")).toHaveLength(1);
    socket.destroy();
  });
});

async function read(stream: ClientHttp2Stream): Promise<void> {
  for await (const _ of stream);
}
