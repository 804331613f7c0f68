import type { LogAppend, LoggedMessage, LogTransport, SnapshotStore, Tail, TailListener } from "@tenure/log";
import type { MemorySnapshots, MemoryTransport } from "@tenure/log/memory";
import type { SimulatedProcess } from "../time/simulated-process.ts";
import type { VirtualTime } from "../time/virtual-time.ts";
import { codec } from "./codec.ts";
import type { Sights } from "./sights.ts";

type AppendOutcome = Awaited<ReturnType<LogTransport["append"]>>;

/** Told how long each append took, from its first try until it was known to be in the log. */
type OnAcked = (partition: number, payload: Uint8Array, tookMs: number) => void;

/** The log as one process sees it: answers and messages reach it only while it runs. */
export class ProcessTransport implements LogTransport {
  readonly #inner: MemoryTransport;
  readonly #process: SimulatedProcess;
  readonly #time: VirtualTime;
  readonly #sights: Sights;
  readonly #onAcked: OnAcked;

  constructor(
    inner: MemoryTransport,
    process: SimulatedProcess,
    time: VirtualTime,
    sights: Sights,
    onAcked: OnAcked = () => {},
  ) {
    this.#inner = inner;
    this.#process = process;
    this.#time = time;
    this.#sights = sights;
    this.#onAcked = onAcked;
  }

  async append(request: LogAppend): Promise<AppendOutcome> {
    const outcome = await this.#process.receive(this.#inner.append(request));
    if (outcome.kind === "acked") this.#noteDone(request.partition, request.payload);
    return outcome;
  }

  async readAfter(partition: number, sequence: bigint): Promise<LoggedMessage | undefined> {
    const message = await this.#process.receive(this.#inner.readAfter(partition, sequence));
    // An append of unknown outcome that is found in the log is as good as acknowledged.
    if (message !== undefined) this.#noteDone(partition, message.payload);
    return message;
  }

  /** A batch turned out to be in the log; counts once, and if it is its own. */
  #noteDone(partition: number, payload: Uint8Array): void {
    const batchId = codec.batchIdOf(payload) ?? "";
    const sentAtMs = this.#sights.sentAtMs(batchId);
    if (sentAtMs === undefined || !this.#sights.noteAcked(partition, batchId, this.#process.now())) return;
    this.#onAcked(partition, payload, this.#process.now() - sentAtMs);
  }

  readLast(partition: number): Promise<LoggedMessage | undefined> {
    return this.#process.receive(this.#inner.readLast(partition));
  }

  tail(from: ReadonlyMap<number, bigint>, listener: TailListener): Tail {
    const process = this.#process;
    // A real tail tells nothing from before a resume; what still lies in the inbox is dropped.
    const resumes = new Map<number, number>();
    const tell = (partition: number, action: () => void): void => {
      const before = resumes.get(partition);
      process.deliver(() => {
        if (resumes.get(partition) === before) action();
      });
    };
    const inner = this.#inner.tail(from, {
      onMessage: (partition, sequence, payload) =>
        tell(partition, () => {
          this.#sights.noteSeen(partition, sequence, process.now());
          listener.onMessage(partition, sequence, payload);
        }),
      onCaughtUp: (partition) => tell(partition, () => listener.onCaughtUp(partition)),
      onReset: (partition, why) => tell(partition, () => listener.onReset(partition, why)),
      onWentBack: (partition, last, told) => tell(partition, () => listener.onWentBack?.(partition, last, told)),
      knownUpTo: (partition) => listener.knownUpTo?.(partition) ?? 0n,
    });
    const localOf = (atMs: number) => process.now() - (this.#time.nowMs - atMs) * process.rate;
    return {
      get liveSinceMs() {
        return inner.liveSinceMs === undefined ? undefined : localOf(inner.liveSinceMs);
      },
      resume: (partition, sequence) => {
        resumes.set(partition, (resumes.get(partition) ?? 0) + 1);
        inner.resume(partition, sequence);
      },
      hurry: () => inner.hurry(),
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    };
  }
}

/** The snapshot store as one process sees it. */
export function processSnapshots(
  inner: MemorySnapshots,
  process: SimulatedProcess,
  time: VirtualTime,
  delayMs: () => number,
  sights: Sights,
): SnapshotStore {
  const later = async <T>(work: () => Promise<T>): Promise<T> => {
    await new Promise<void>((resolve) => void time.after(delayMs(), resolve));
    return work();
  };
  return {
    put: (name, bytes) => process.receive(later(() => inner.put(name, bytes))),
    get: async (object) => {
      const bytes = await process.receive(later(() => inner.get(object)));
      const [partition, sequence] = object.name.split("/");
      sights.noteLoaded(Number(partition), BigInt(sequence ?? 0), process.now());
      return bytes;
    },
  };
}
