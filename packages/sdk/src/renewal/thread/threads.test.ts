import { TermEndReason } from "@tenure/contracts";
import { FakeClock, seededRandom } from "@tenure/kernel";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TenureError } from "../../errors.ts";
import type { EndOfTermMark, KeepListener, KeptHold } from "../../session/session.ts";
import { ScriptedTransport } from "../../testing/scripted-transport.ts";
import type { ThreadOrder, ThreadReport, ThreadStart } from "./messages.ts";
import { RenewalSide } from "./renewal-side.ts";
import { RenewalThread, type ThreadHandle } from "./renewal-thread.ts";

/** Both sides in one thread: messages are copied as they would be between two, and arrive a turn later. */
class FakeThread implements ThreadHandle {
  readonly transport = new ScriptedTransport();
  readonly side: RenewalSide;
  readonly #onMessage: ((reports: readonly ThreadReport[]) => void)[] = [];
  readonly #onExit: (() => void)[] = [];
  isAlive = true;

  constructor(start: ThreadStart, clock: FakeClock, ended: string[]) {
    this.side = new RenewalSide({
      start,
      transport: this.transport,
      clock,
      random: seededRandom(2),
      report: (reports) => this.#deliver(this.#onMessage, reports),
      endProcess: (why) => void ended.push(`${clock.now()} ${why}`),
    });
    this.side.start();
  }

  postMessage(orders: readonly ThreadOrder[]): void {
    const copy = structuredClone(orders);
    queueMicrotask(() => {
      if (!this.isAlive) return;
      this.side.take(copy);
      if (copy.some(({ kind }) => kind === "close")) this.die();
    });
  }

  async terminate(): Promise<void> {
    this.isAlive = false;
  }

  die(): void {
    this.isAlive = false;
    this.side.close();
    queueMicrotask(() => {
      for (const listener of this.#onExit) listener();
    });
  }

  on(event: string, listener: (...values: never[]) => void): this {
    if (event === "message") this.#onMessage.push(listener as (reports: readonly ThreadReport[]) => void);
    if (event === "exit") this.#onExit.push(listener as () => void);
    return this;
  }

  #deliver(listeners: readonly ((reports: readonly ThreadReport[]) => void)[], reports: readonly ThreadReport[]): void {
    const copy = structuredClone(reports);
    queueMicrotask(() => {
      if (this.isAlive) for (const listener of listeners) listener(copy);
    });
  }
}

class Notes implements KeepListener {
  readonly told: string[] = [];
  onRenewed(sentAtMs: number): void {
    this.told.push(`renewed ${sentAtMs}`);
  }
  onMissed({ name, reason }: TenureError): void {
    this.told.push(`missed ${name} ${reason}`);
  }
  onRefused({ reason, details }: TenureError): void {
    this.told.push(`refused ${reason} ${details.token}`);
  }
  onEndOfTerm({ successor }: EndOfTermMark): void {
    this.told.push(`marked ${successor}`);
  }
  onEnded(reason: number, note: string): void {
    this.told.push(`ended ${reason} ${note}`);
  }
}

let clock: FakeClock;
let keeper: RenewalThread;
let threads: FakeThread[];
let ended: string[];

beforeEach(() => {
  clock = new FakeClock({ startMs: 50_000 });
  threads = [];
  ended = [];
  const shared = Object.assign(clock, { shared: new SharedArrayBuffer(16) });
  keeper = new RenewalThread({
    clock: shared,
    random: seededRandom(1),
    startThread: (start) => {
      const thread = new FakeThread(start, clock, ended);
      threads.push(thread);
      return thread;
    },
    start: {
      clientId: "client.renewal",
      renewKey: new Uint8Array([1]),
      userAgent: "test",
      transport: { kind: "grpc", options: { endpoints: ["x:1"] } },
      beatIntervalMs: 2_000,
      requestTimeoutMs: 2_000,
      connectTimeoutMs: 5_000,
      stopBoundMs: 1_000,
      mainSilenceMs: 5_000,
      onStall: "exit",
    },
  });
});

afterEach(async () => {
  const closing = keeper[Symbol.asyncDispose]();
  await clock.advance(0);
  await closing;
});

function holdOf(id: number): KeptHold {
  return {
    lease: { namespace: "tests", name: `lease-${id}` },
    holdId: BigInt(id),
    partition: 3,
    token: BigInt(id) * 10n,
    renewIntervalMs: 2_000,
    requestTimeoutMs: 1_000,
    provenAtMs: 50_000,
    usableTermMs: 11_000,
  };
}

function lastThread(): FakeThread {
  const thread = threads.at(-1);
  if (thread === undefined) throw new Error("no thread was started");
  return thread;
}

/** Greets, and acknowledges each renewal as it comes, until told to stop. */
async function serve(forMs: number): Promise<void> {
  const { transport } = lastThread();
  for (let passedMs = 0; passedMs < forMs; passedMs += 50) {
    await clock.advance(50);
    for (const { renewals } of transport.last.sent.splice(0)) {
      if (renewals.length > 0) transport.last.say({ renewalAcks: renewals });
    }
  }
  await clock.advance(0);
}

async function startKeeping(ids: readonly number[], notes: readonly Notes[]) {
  const keepings = ids.map((id, index) => keeper.keep(holdOf(id), notes[index] ?? new Notes()));
  await clock.advance(0);
  lastThread().transport.last.welcome();
  return keepings;
}

describe("the renewing thread", () => {
  it("is started with the first hold, renews under its own client id, and tells proven instants", async () => {
    expect(threads).toHaveLength(0);
    const notes = new Notes();
    const [keeping] = await startKeeping([1], [notes]);
    expect(lastThread().transport.last.sent[0]?.hello?.clientId).toBe("client.renewal");
    expect(keeping?.provenAtMs).toBe(50_000);
    await serve(6_500);
    expect(notes.told.length).toBeGreaterThanOrEqual(3);
    expect(notes.told.every((text) => text.startsWith("renewed "))).toBe(true);
    expect(`renewed ${keeping?.provenAtMs}`).toBe(notes.told.at(-1));
  });

  it("has its instants read before its messages are", async () => {
    const notes = new Notes();
    const [keeping] = await startKeeping([1], [notes]);
    await clock.advance(2_000);
    const { last } = lastThread().transport;
    last.say({ renewalAcks: last.sent.findLast(({ renewals }) => renewals.length > 0)?.renewals ?? new Uint8Array(0) });
    expect(notes.told.filter((text) => text.startsWith("renewed"))).toEqual([]);
    expect(keeping?.provenAtMs).toBeGreaterThan(50_000);
  });

  it("hands refusals, misses, marks and ends over with all that they say", async () => {
    const notes = new Notes();
    await startKeeping([1], [notes]);
    await clock.advance(0);
    const { last } = lastThread().transport;
    await clock.advance(3_000);
    const lease = { namespace: "tests", name: "lease-1" };
    const endOfTerm = { preferredHolder: "b", token: 10n, reason: "" } as never;
    last.say({ pushes: [{ push: { $case: "endOfTerm", value: { lease, endOfTerm, cleared: false } } }] });
    const value = { lease, token: 10n, endReason: TermEndReason.REVOKED, note: "why" };
    last.say({ pushes: [{ push: { $case: "termEnded", value } }] });
    const detail = { reasonName: "FENCED", token: 99n, violations: [], attributes: {} } as never;
    const failure = { code: 9, message: "fenced", detail };
    last.say({ refusals: [{ holdId: 1n, partition: 3, sendNumber: 2n, failure }] });
    await clock.advance(0);
    expect([...new Set(notes.told)]).toEqual([
      "missed TenureError DEADLINE_EXCEEDED",
      "marked b",
      `ended ${TermEndReason.REVOKED} why`,
      "refused FENCED 99",
    ]);
    expect(keeper.size).toBe(0);
  });

  it("gives slots back only when the thread has let go of them, and uses them again", async () => {
    const keepings = await startKeeping([1, 2, 3], []);
    for (const keeping of keepings) keeping[Symbol.dispose]();
    for (const keeping of keepings) keeping[Symbol.dispose]();
    await clock.advance(0);
    const notes = new Notes();
    const again = keeper.keep(holdOf(4), notes);
    await serve(2_500);
    expect(notes.told).toHaveLength(1);
    expect(again.provenAtMs).toBeGreaterThan(50_000);
    expect(keepings.map(({ provenAtMs }) => provenAtMs)).toEqual([50_000, 50_000, 50_000]);
  });

  it("that dies is started again, takes over what is kept, and its holds learn of the gap", async () => {
    const notes = new Notes();
    const [keeping, dropped] = await startKeeping([1, 2], [notes, new Notes()]);
    await serve(2_500);
    const provenAtMs = keeping?.provenAtMs ?? 0;
    lastThread().die();
    await clock.advance(0);
    dropped?.[Symbol.dispose]();
    expect(notes.told.at(-1)).toBe("missed TenureError RENEWAL_THREAD_LOST");
    await clock.advance(100);
    expect(threads).toHaveLength(2);
    lastThread().transport.last.welcome();
    await serve(100);
    expect(keeping?.provenAtMs).toBeGreaterThan(provenAtMs);
    expect(keeper.size).toBe(1);
  });

  it("closes with its session and leaves no timer", async () => {
    await startKeeping([1], []);
    const closing = keeper[Symbol.asyncDispose]();
    await clock.advance(0);
    await closing;
    await clock.advance(1_000);
    expect(clock.pendingTimers).toBe(0);
    expect(lastThread().transport.last.isClosed).toBe(true);
  });
});
