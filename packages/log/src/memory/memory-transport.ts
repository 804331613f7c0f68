import { Fault } from "@tenure/kernel";
import type { AppendOutcome } from "../append-channel.ts";
import type { AppendRefusal } from "../js-errors.ts";
import type { LogAppend, LoggedMessage, LogTransport, Tail, TailListener } from "../log-transport.ts";
import type { MemoryLog } from "./memory-log.ts";
import { MemoryTail } from "./memory-tail.ts";

/** An append that its sender still waits for. */
interface Pending {
  readonly settle: (outcome: AppendOutcome) => void;
}

/** A client of a log in memory. It can be cut off, and what it sent before may still arrive. */
export class MemoryTransport implements LogTransport, Disposable {
  readonly #log: MemoryLog;
  readonly #client: string;
  readonly #pending = new Set<Pending>();
  readonly #tails = new Set<MemoryTail>();
  #isCut = false;

  constructor(log: MemoryLog, client: string) {
    this.#log = log;
    this.#client = client;
  }

  /** Whether the client is connected. */
  get connected(): boolean {
    return !this.#isCut;
  }

  /** Loses the connection: what is in flight becomes `Ambiguous` at once, and may still be applied. */
  cut(): void {
    this.#isCut = true;
    const lost = refused("Ambiguous", "the connection was lost before the answer came");
    for (const { settle } of [...this.#pending]) settle(lost);
    for (const tail of this.#tails) tail.wake();
  }

  /** Finds the connection again. */
  heal(): void {
    this.#isCut = false;
    for (const tail of this.#tails) tail.wake();
  }

  /** Cut off for good, as the end of a process does. */
  [Symbol.dispose](): void {
    this.cut();
    for (const tail of [...this.#tails]) tail.close();
  }

  append(request: LogAppend): Promise<AppendOutcome> {
    if (this.#isCut) return Promise.resolve(refused("Unavailable", "not connected"));
    const { clock, faults } = this.#log;
    const { partition, prev, timeoutMs } = request;
    const fault = faults.onAppend?.({ client: this.#client, partition, prev, timeoutMs }) ?? promptly;
    return new Promise((resolve) => {
      const settle = (outcome: AppendOutcome): void => {
        if (!this.#pending.delete(pending)) return;
        timer.cancel();
        resolve(outcome);
      };
      const pending: Pending = { settle };
      this.#pending.add(pending);
      const timer = clock.schedule(timeoutMs, () => settle(refused("Ambiguous", `no answer within ${timeoutMs} ms`)));
      if (fault.kind === "refused") clock.schedule(0, () => settle(refused(fault.refusal, "refused by a fault")));
      if (fault.kind === "refused" || fault.kind === "lostRequest") return;
      // The payload is copied: a ghost carries what was sent, whatever the sender does with its buffer.
      const payload = request.payload.slice();
      clock.schedule(fault.requestMs, () => {
        const outcome = this.#arrive(partition, payload, prev);
        if (fault.kind === "lostReply") return;
        if (fault.replyMs === 0) settle(outcome);
        else clock.schedule(fault.replyMs, () => settle(outcome));
      });
    });
  }

  tail(from: ReadonlyMap<number, bigint>, listener: TailListener): Tail {
    const tail: MemoryTail = new MemoryTail(from, listener, {
      log: this.#log,
      client: this.#client,
      isCut: () => this.#isCut,
      readLast: (partition) => this.readLast(partition),
      onClose: () => this.#tails.delete(tail),
    });
    this.#tails.add(tail);
    return tail;
  }

  readAfter(partition: number, sequence: bigint): Promise<LoggedMessage | undefined> {
    return this.#read(partition, () => this.#log.next(new Set([partition]), sequence));
  }

  readLast(partition: number): Promise<LoggedMessage | undefined> {
    return this.#read(partition, () => this.#log.messages(partition).at(-1));
  }

  async #read(partition: number, look: () => LoggedMessage | undefined): Promise<LoggedMessage | undefined> {
    const { clock, faults } = this.#log;
    const fault = faults.onRead?.({ client: this.#client, partition }) ?? { kind: "delayed", replyMs: 0 };
    if (this.#isCut || this.#log.isDown || fault.kind === "unanswered") throw unanswered();
    if (fault.kind === "stale") return undefined;
    const found = look();
    if (fault.replyMs > 0) await clock.sleep(fault.replyMs);
    return found;
  }

  #arrive(partition: number, payload: Uint8Array, prev: bigint): AppendOutcome {
    if (this.#log.isDown) return refused("Unavailable", "nobody leads");
    return this.#log.append(partition, payload, prev);
  }
}

const promptly = { kind: "delayed", requestMs: 0, replyMs: 0 } as const;

function refused(refusal: AppendRefusal, description: string): AppendOutcome {
  return { kind: "refused", refusal, description };
}

function unanswered(): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "JETSTREAM_UNAVAILABLE",
    message: "cannot read a message of the log in memory: nobody answers",
  });
}
