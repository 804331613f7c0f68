import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { systemClock, type Timer } from "@tenure/kernel";
import { JuteReader, JuteWriter, PacketReader } from "./jute.ts";

/** Request types of ZooKeeper's protocol. */
const types = { create: 1, delete: 2, exists: 3, children: 8, ping: 11 } as const;
/** Numbers of packets that answer no request. */
const eventXid = -1;
const pingXid = -2;
const noNode = -101;
/** `CreateMode`, as flags. */
export const createModes = { persistent: 0, ephemeral: 1, ephemeralSequential: 3 } as const;

const sessionTimeoutMs = 30_000;
const pingIntervalMs = 10_000;
const greetingTimeoutMs = 2_000;
const allPermissions = 31;

interface Waiting {
  resolve(reader: JuteReader | undefined): void;
  reject(error: Error): void;
}

/**
 * One session with a ZooKeeper server, as fast as its protocol allows from Node.js: requests are pipelined on one
 * connection, and all of one turn of the event loop travel in one write.
 */
export class ZooKeeperSession implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #watches = new Map<string, Set<() => void>>();
  #packets: Buffer[] = [];
  #xid = 0;
  #beat: Timer | undefined;
  #onGreeting: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    let isGreeted = false;
    const reader = new PacketReader((packet) => {
      if (isGreeted) this.#onPacket(packet);
      else {
        isGreeted = true;
        this.#onGreeting();
      }
    });
    socket.on("data", (chunk) => reader.take(chunk));
    socket.on("close", () => {
      this.#beat?.cancel();
      for (const { reject } of this.#waiting.values()) reject(new Error("zookeeper closed the connection"));
    });
    socket.on("error", () => {});
  }

  static async open(endpoint: string): Promise<ZooKeeperSession> {
    const [host, port] = endpoint.split(":");
    const socket = connect({ host: host ?? "", port: Number(port), noDelay: true });
    await once(socket, "connect");
    const session = new ZooKeeperSession(socket);
    const greeted = new Promise<void>((resolve, reject) => {
      session.#onGreeting = resolve;
      // A server that is still starting accepts and hangs up, or never answers.
      socket.setTimeout(greetingTimeoutMs, () => socket.destroy());
      socket.once("close", () => reject(new Error(`${endpoint} hung up`)));
    });
    const greeting = new JuteWriter().int(0).long(0n).int(sessionTimeoutMs).long(0n).buffer(Buffer.alloc(16));
    socket.write(greeting.flag(false).packet());
    await greeted;
    socket.setTimeout(0);
    session.#ping();
    return session;
  }

  /** Creates a node and gives its path, which the server completes if the mode is sequential. */
  async create(path: string, mode: number): Promise<string> {
    const body = this.#request(types.create).text(path).buffer(Buffer.from("held"));
    body.int(1).int(allPermissions).text("world").text("anyone").int(mode);
    return (await this.#send(body))?.text() ?? path;
  }

  async delete(path: string): Promise<void> {
    await this.#send(this.#request(types.delete).text(path).int(-1));
  }

  async children(path: string): Promise<readonly string[]> {
    return (await this.#send(this.#request(types.children).text(path).flag(false)))?.texts() ?? [];
  }

  /** Whether a node is there; `onChange` is called once, at its next change. */
  async exists(path: string, onChange: () => void): Promise<boolean> {
    const watches = this.#watches.get(path) ?? new Set();
    this.#watches.set(path, watches.add(onChange));
    return (await this.#send(this.#request(types.exists).text(path).flag(true))) !== undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
  }

  #request(type: number): JuteWriter {
    this.#xid += 1;
    return new JuteWriter().int(this.#xid).int(type);
  }

  /** The answer's body; undefined when there is no such node. */
  #send(request: JuteWriter): Promise<JuteReader | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(this.#xid, { resolve, reject });
      this.#write(request.packet());
    });
  }

  #write(packet: Buffer): void {
    if (this.#packets.push(packet) > 1) return;
    process.nextTick(() => {
      this.#socket.write(this.#packets.length === 1 ? packet : Buffer.concat(this.#packets));
      this.#packets = [];
    });
  }

  #onPacket(packet: Buffer): void {
    const reader = new JuteReader(packet);
    const xid = reader.int();
    reader.long();
    const error = reader.int();
    if (xid === eventXid) this.#onEvent(reader);
    if (xid === eventXid || xid === pingXid) return;
    const waiting = this.#waiting.get(xid);
    this.#waiting.delete(xid);
    if (error === 0 || error === noNode) waiting?.resolve(error === 0 ? reader : undefined);
    else waiting?.reject(new Error(`zookeeper answered ${error}`));
  }

  #onEvent(reader: JuteReader): void {
    reader.int();
    reader.int();
    const path = reader.text();
    const watches = this.#watches.get(path);
    this.#watches.delete(path);
    for (const onChange of watches ?? []) onChange();
  }

  #ping(): void {
    this.#write(new JuteWriter().int(pingXid).int(types.ping).packet());
    this.#beat = systemClock.schedule(pingIntervalMs, () => this.#ping());
  }
}
