import { TermEndReason } from "@tenure/contracts";
import { type Clock, FakeClock, seededRandom } from "@tenure/kernel";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TenureError } from "../../errors.ts";
import type { EndOfTermMark, Keeping, KeepListener, KeptHold } from "../../session/session.ts";
import { ScriptedTransport } from "../../testing/scripted-transport.ts";
import { FreshHolds } from "./fresh-holds.ts";
import type { ThreadOrder, ThreadReport, ThreadStart } from "./messages.ts";
import { RenewalSide } from "./renewal-side.ts";
import { RenewalThread } from "./renewal-thread.ts";
import type { ThreadHandle } from "./thread-handle.ts";

/** The main thread's own renewals; the test is their store. */
class FakeInline {
  readonly kept: { readonly hold: KeptHold; readonly listener: KeepListener; renewals: number; isStopped: boolean }[] =
    [];

  keep(hold: KeptHold, listener: KeepListener): Keeping {
    const entry = { hold, listener, renewals: 0, isStopped: false };
    const stop = (): void => {
      entry.isStopped = true;
    };
    this.kept.push(entry);
    const renewNow = (): void => {
      entry.renewals += 1;
    };
    return { provenAtMs: hold.provenAtMs, renewNow, stopRenewing: stop, [Symbol.dispose]: stop };
  }
}

/** Both sides in one thread: messages are copied as they would be between two, and arrive a turn later. */
class FakeThread implements ThreadHandle {
  readonly transport = new ScriptedTransport();
  readonly side: RenewalSide;
  readonly #onMessage: ((reports: readonly ThreadReport[]) => void)[] = [];
  readonly #onExit: (() => void)[] = [];
  readonly #posted: ThreadOrder[];
  readonly #unread: ThreadOrder[] = [];
  isAlive = true;
  /** Orders wait while its modules load. */
  isLoading = false;
  diedBy: "itself" | "others" | undefined;

  constructor(start: ThreadStart, clock: FakeClock, ended: string[], posted: ThreadOrder[]) {
    this.#posted = posted;
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
    this.#posted.push(...orders);
    queueMicrotask(() => {
      if (this.isLoading) this.#unread.push(...copy);
      else this.#take(copy);
    });
  }

  hasLoaded(): void {
    this.isLoading = false;
    this.#take(this.#unread);
  }

  #take(orders: readonly ThreadOrder[]): void {
    if (!this.isAlive) return;
    this.side.take(orders);
    if (orders.some(({ kind }) => kind === "close")) this.die();
  }

  async terminate(): Promise<void> {
    this.isAlive = false;
    this.diedBy ??= "others";
  }

  die(): void {
    this.isAlive = false;
    this.diedBy = "itself";
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
      if (this.isAlive && !isStalled) for (const listener of listeners) listener(copy);
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
let inline: FakeInline;
/** What was posted to the threads, noted as it was posted. */
let posted: ThreadOrder[];
/** Whether the main thread runs nothing: neither its timers nor what it is told. */
let isStalled = false;

function mainClock(): Clock {
  return {
    now: () => clock.now(),
    wall: () => clock.wall(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    schedule: (ms, action) => clock.schedule(ms, () => isStalled || action()),
  };
}

/** Lets time pass for all but the main thread. */
async function stall(forMs: number): Promise<void> {
  isStalled = true;
  await clock.advance(forMs);
}

beforeEach(() => {
  clock = new FakeClock({ startMs: 50_000 });
  threads = [];
  ended = [];
  posted = [];
  inline = new FakeInline();
  isStalled = false;
  const shared = { ...mainClock(), shared: new SharedArrayBuffer(16) };
  keeper = new RenewalThread({
    clock: shared,
    random: seededRandom(1),
    inline,
    startThread: (start) => {
      const thread = new FakeThread(start, clock, ended, posted);
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
  await clock.advance(0);
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
    const [keeping] = await startKeeping([1], [notes]);
    await serve(2_500);
    const { last } = lastThread().transport;
    await clock.advance(3_000);
    const lease = { namespace: "tests", name: "lease-1" };
    const endOfTerm = { preferredHolder: "b", token: 10n, reason: "" } as never;
    last.say({ pushes: [{ push: { $case: "endOfTerm", value: { lease, endOfTerm, cleared: false } } }] });
    const value = { lease, token: 10n, endReason: TermEndReason.REVOKED, note: "why" };
    last.say({ pushes: [{ push: { $case: "termEnded", value } }] });
    const detail = { reasonName: "FENCED", token: 99n, violations: [], attributes: {} } as never;
    const failure = { code: 9, message: "fenced", detail };
    last.say({ refusals: [{ holdId: 1n, partition: 3, sendNumber: 99n, failure }] });
    await clock.advance(0);
    expect([...new Set(notes.told.filter((text) => !text.startsWith("renewed")))]).toEqual([
      "missed TenureError DEADLINE_EXCEEDED",
      "marked b",
      `ended ${TermEndReason.REVOKED} why`,
      "refused FENCED 99",
    ]);
    // Refused, but what it is for may still run: its deadline is watched until it is dropped.
    expect(keeper.size).toBe(1);
    keeping?.[Symbol.dispose]();
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

  it("lets a thread that still loads end by itself: ended from outside it would leave files open", async () => {
    keeper.warmUp();
    const closing = keeper[Symbol.asyncDispose]();
    lastThread().isLoading = true;
    await clock.advance(4_999);
    expect(lastThread().isAlive).toBe(true);
    lastThread().hasLoaded();
    await clock.advance(0);
    await closing;
    expect(lastThread().diedBy).toBe("itself");
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("until the thread has taken a hold over", () => {
  it("this thread renews it, tells its misses, and proves instants for both", async () => {
    const notes = new Notes();
    const keeping = keeper.keep(holdOf(1), notes);
    const [meanwhile] = inline.kept;
    expect(meanwhile?.hold).toMatchObject({ holdId: 1n, provenAtMs: 50_000 });
    // The thread starts for longer than a whole term: no greeting, nothing renewed there.
    for (let passedMs = 0; passedMs < 12_000; passedMs += 2_000) {
      await clock.advance(2_000);
      meanwhile?.listener.onRenewed(clock.now());
      expect(keeping.provenAtMs).toBe(clock.now());
    }
    expect(notes.told).toEqual([52, 54, 56, 58, 60, 62].map((seconds) => `renewed ${seconds}000`));
    meanwhile?.listener.onMissed(new TenureError({ code: "UNAVAILABLE", reason: "SESSION_BROKEN", message: "gone" }));
    expect(notes.told.at(-1)).toBe("missed TenureError SESSION_BROKEN");
    expect(ended).toEqual([]);
  });

  it("it goes on here when the thread is up, and stops with the thread's first proof", async () => {
    const notes = new Notes();
    await startKeeping([1], [notes]);
    expect(inline.kept[0]?.isStopped).toBe(false);
    await serve(2_500);
    expect(inline.kept[0]?.isStopped).toBe(true);
    keeper.keep(holdOf(2), new Notes());
    expect(inline.kept).toHaveLength(1);
  });

  it("a refusal here is final for both, and is told once", async () => {
    const notes = new Notes();
    const keeping = keeper.keep(holdOf(1), notes);
    const refusal = new TenureError({
      code: "FAILED_PRECONDITION",
      reason: "FENCED",
      message: "",
      details: { token: 9n },
    });
    inline.kept[0]?.listener.onRefused(refusal);
    await clock.advance(0);
    expect(notes.told).toEqual(["refused FENCED 9"]);
    expect(posted.map(({ kind }) => kind)).toEqual(["page", "keep", "stopRenewing"]);
    keeping[Symbol.dispose]();
    keeping[Symbol.dispose]();
    await clock.advance(0);
    expect(posted.at(-1)?.kind).toBe("drop");
  });

  it("it is renewed here again when the thread dies", async () => {
    const notes = new Notes();
    await startKeeping([1], [notes]);
    await serve(2_500);
    lastThread().die();
    await clock.advance(0);
    expect(inline.kept[1]).toMatchObject({ renewals: 1, isStopped: false });
    keeper.keep(holdOf(2), new Notes());
    expect(inline.kept).toHaveLength(3);
    await clock.advance(100);
    expect(threads).toHaveLength(2);
  });
});

describe("a main thread that stalls", () => {
  it("a promise after its grants has told the thread of all of them, in one message", async () => {
    const grants = [1, 2, 3].map(async (id) => keeper.keep(holdOf(id), new Notes(), "soon"));
    await grants[0];
    expect(posted.map(({ kind }) => kind)).toEqual(["page", "keep", "keep", "keep"]);
  });

  it("in the turn of its grant has already told the thread, which ends the process at the deadline", async () => {
    keeper.keep(holdOf(1), new Notes());
    expect(posted.map(({ kind }) => kind)).toEqual(["page", "keep"]);
    await stall(10_900);
    expect(ended).toEqual([]);
    await stall(500);
    expect(ended[0]).toContain("the term of tests/lease-1 ended");
  });

  it("is judged by what it has itself renewed, too", async () => {
    keeper.keep(holdOf(1), new Notes());
    await clock.advance(5_000);
    inline.kept[0]?.listener.onRenewed(55_000);
    await stall(10_900);
    expect(ended).toEqual([]);
    await stall(500);
    expect(ended).not.toEqual([]);
  });

  it.each(["told to stop renewing", "whose thread has failed"])("is ended also when %s", async (how) => {
    const keeping = keeper.keep(holdOf(1), new Notes());
    await clock.advance(0);
    if (how === "told to stop renewing") keeping.stopRenewing();
    else lastThread().side.fail(new TenureError({ code: "INTERNAL", reason: "INTERNAL", message: "a defect" }));
    await Promise.resolve();
    await stall(11_500);
    expect(ended).not.toEqual([]);
  });

  it("with nothing to do any more is left alone", async () => {
    const keeping = keeper.keep(holdOf(1), new Notes());
    await clock.advance(0);
    keeping[Symbol.dispose]();
    await clock.advance(0);
    await stall(30_000);
    expect(ended).toEqual([]);
  });
});

describe("a lock that was just taken", () => {
  /** With a thread that is up. */
  async function freshHolds(): Promise<FreshHolds> {
    const [first] = await startKeeping([1], []);
    first?.[Symbol.dispose]();
    await clock.advance(0);
    posted.length = 0;
    return new FreshHolds(keeper, mainClock());
  }

  /** Taken at the present instant. */
  function keepLater(fresh: FreshHolds, id: number, notes = new Notes()): Keeping {
    return fresh.keep({ ...holdOf(id), provenAtMs: clock.now() }, notes, "later");
  }

  it("is nothing to the thread if it is released at once, and its place is used again", async () => {
    const fresh = await freshHolds();
    for (let id = 2; id < 5_000; id += 1) {
      const keeping = keepLater(fresh, id);
      keeping.stopRenewing();
      keeping[Symbol.dispose]();
      keeping[Symbol.dispose]();
    }
    expect(fresh.size).toBe(0);
    await clock.advance(1_000);
    await stall(30_000);
    expect([posted, ended, clock.pendingTimers > 0]).toEqual([[], [], true]);
  });

  it("is handed over when it lasts, and is renewed from then on", async () => {
    const fresh = await freshHolds();
    const notes = new Notes();
    const keeping = keepLater(fresh, 2, notes);
    await clock.advance(49);
    expect(posted).toEqual([]);
    await clock.advance(51);
    expect(posted.map(({ kind }) => kind)).toEqual(["keep"]);
    await serve(2_500);
    expect(notes.told).toHaveLength(1);
    expect(`renewed ${keeping.provenAtMs}`).toBe(notes.told[0]);
    keeping[Symbol.dispose]();
    expect(fresh.size).toBe(0);
  });

  it("is handed over at once when it is to be renewed now, or soon again, or while the thread starts", async () => {
    const fresh = await freshHolds();
    keepLater(fresh, 2).renewNow();
    fresh.keep({ ...holdOf(3), renewIntervalMs: 400 }, new Notes(), "later");
    await clock.advance(0);
    expect(posted.map(({ kind }) => kind)).toEqual(["keep", "renewNow", "keep"]);
    lastThread().die();
    await clock.advance(0);
    keepLater(fresh, 4);
    expect(inline.kept.at(-1)?.hold.holdId).toBe(4n);
    await fresh[Symbol.asyncDispose]();
  });

  it("is handed over in a later round when it could not be, and so are others", async () => {
    const fresh = await freshHolds();
    keepLater(fresh, 2);
    const keep = keeper.keep.bind(keeper);
    keeper.keep = () => {
      throw new Error("no memory");
    };
    await clock.advance(50);
    await expect(clock.advance(50)).rejects.toThrow("no memory");
    keeper.keep = keep;
    keepLater(fresh, 3);
    await clock.advance(150);
    expect(posted.flatMap((order) => (order.kind === "keep" ? order.hold.holdId : []))).toEqual([2n, 3n]);
    await fresh[Symbol.asyncDispose]();
  });

  it("is known to the thread before whoever has it renewed can block", async () => {
    const fresh = await freshHolds();
    keepLater(fresh, 2).renewNow();
    expect(posted.map(({ kind }) => kind)).toEqual(["keep"]);
    await fresh[Symbol.asyncDispose]();
  });

  it.each(["that blocks in the very turn of its grant", "told to stop renewing"])(
    "ends a process that stalls past its deadline, also one %s",
    async (how) => {
      const fresh = await freshHolds();
      const keeping = keepLater(fresh, 2);
      if (how === "told to stop renewing") {
        keeping.stopRenewing();
        await clock.advance(2_000);
      }
      await stall(10_900 - (clock.now() - keeping.provenAtMs));
      expect([posted, ended]).toEqual([[], []]);
      await stall(600);
      expect(ended[0]).toContain("the term of a lock just taken ended");
    },
  );
});
