import { decodeRenewals, encodeRenewals, TermEndReason } from "@tenure/contracts";
import { FakeClock, seededRandom } from "@tenure/kernel";
import { beforeEach, describe, expect, it } from "vitest";
import { TenureError } from "../errors.ts";
import type { EndOfTermMark, KeepListener, KeptHold } from "../session/session.ts";
import { InlineKeeper } from "./inline-keeper.ts";

let clock: FakeClock;
let keeper: InlineKeeper;
let obstacle: TenureError | undefined;
let sent: { readonly number: number; readonly atMs: number; readonly bytes: Uint8Array }[];

class Notes implements KeepListener {
  readonly told: string[] = [];
  onRenewed(sentAtMs: number): void {
    this.told.push(`renewed ${sentAtMs}`);
  }
  onMissed({ reason }: TenureError): void {
    this.told.push(`missed ${reason}`);
  }
  onRefused({ reason }: TenureError): void {
    this.told.push(`refused ${reason}`);
  }
  onEndOfTerm({ successor, cleared }: EndOfTermMark): void {
    this.told.push(`${cleared ? "cleared" : "marked"} ${successor}`);
  }
  onEnded(reason: number): void {
    this.told.push(`ended ${reason}`);
  }
}

beforeEach(() => {
  clock = new FakeClock({ startMs: 1_000 });
  sent = [];
  obstacle = undefined;
  let number = 0;
  const instants = new Map<number, number>();
  keeper = new InlineKeeper({
    clock,
    random: seededRandom(1),
    obstacle: () => obstacle,
    instantOf: (sendNumber) => instants.get(sendNumber) ?? Number.NEGATIVE_INFINITY,
    flushSoon: () =>
      queueMicrotask(() => {
        if (!keeper.isDue) return;
        number += 1;
        instants.set(number, clock.now());
        sent.push({ number, atMs: clock.now(), bytes: keeper.take(number) });
      }),
  });
});

function holdOf(id: number, options: Partial<KeptHold> = {}): KeptHold {
  return {
    lease: { namespace: "tests", name: `lease-${id}` },
    holdId: BigInt(id),
    partition: id % 2,
    token: BigInt(id) * 10n,
    renewIntervalMs: 2_000,
    requestTimeoutMs: 1_000,
    provenAtMs: 900,
    usableTermMs: 11_000,
    ...options,
  };
}

/** Acknowledges everything of a send. */
function ackLast(): void {
  keeper.onAcks(sent.at(-1)?.bytes ?? new Uint8Array(0));
}

const refusal = (id: number, code: number, reasonName: string, sendNumber = 1n) => ({
  holdId: BigInt(id),
  partition: id % 2,
  sendNumber,
  failure: { code, message: reasonName, detail: { reasonName, violations: [], attributes: {} } as never },
});

describe("renewals", () => {
  it("of a term that ends for want of a proof are not sent: they would only keep others waiting", async () => {
    keeper.keep(holdOf(2, { usableTermMs: 6_000, drainMs: 1_000 }), new Notes());
    keeper.keep(holdOf(4), new Notes());
    await clock.advance(6_000);
    expect(sent.map(({ bytes }) => decodeRenewals(bytes).map(({ holdIds }) => [...holdIds]))).toEqual([
      [[2, 4]],
      [[2, 4]],
      [[4]],
    ]);
  });

  it("of all holds with one interval travel together, sorted by partition and id", async () => {
    for (const id of [7, 3, 4, 10, 1]) keeper.keep(holdOf(id), new Notes());
    await clock.advance(2_000);
    expect(sent).toHaveLength(1);
    expect(decodeRenewals(sent[0]?.bytes ?? new Uint8Array(0))).toEqual([
      { partition: 1, sendNumber: 1, holdIds: [1, 3, 7] },
      { partition: 0, sendNumber: 1, holdIds: [4, 10] },
    ]);
    await clock.advance(2_000);
    expect(sent.map(({ atMs }) => atMs)).toEqual([3_000, 5_000]);
  });

  it("prove a term from the instant of the very send that was committed", async () => {
    const notes = new Notes();
    const keeping = keeper.keep(holdOf(1), notes);
    await clock.advance(4_000);
    const [first, second] = sent;
    keeper.onAcks(second?.bytes ?? new Uint8Array(0));
    keeper.onAcks(first?.bytes ?? new Uint8Array(0));
    keeper.onAcks(second?.bytes ?? new Uint8Array(0));
    expect(notes.told.filter((text) => text.startsWith("renewed"))).toEqual(["renewed 5000"]);
    expect(keeping.provenAtMs).toBe(5_000);
    // A number that was never sent, another partition, an unknown hold: nothing is proven by them.
    keeper.onAcks(encodeRenewals([{ partition: 1, sendNumber: 99, holdIds: [1] }]));
    keeper.onAcks(encodeRenewals([{ partition: 0, sendNumber: 2, holdIds: [1, 2] }]));
    expect(keeping.provenAtMs).toBe(5_000);
  });

  it("that are not answered within T are missed, once each, and go on", async () => {
    const answered = new Notes();
    const unanswered = new Notes();
    keeper.keep(holdOf(1), answered);
    keeper.keep(holdOf(3), unanswered);
    await clock.advance(2_000);
    keeper.onAcks(encodeRenewals([{ partition: 1, sendNumber: 1, holdIds: [1] }]));
    await clock.advance(1_000);
    expect(answered.told).toEqual(["renewed 3000"]);
    expect(unanswered.told).toEqual(["missed DEADLINE_EXCEEDED"]);
    await clock.advance(1_000);
    expect(sent).toHaveLength(2);
  });

  it("that cannot be sent are missed at once, and made when nothing is in the way any more", async () => {
    const notes = new Notes();
    keeper.keep(holdOf(1), notes);
    obstacle = new TenureError({ code: "UNAVAILABLE", reason: "SESSION_BROKEN", message: "gone" });
    await clock.advance(4_000);
    expect(notes.told).toEqual(["missed SESSION_BROKEN", "missed SESSION_BROKEN"]);
    expect(sent).toHaveLength(0);
    obstacle = undefined;
    keeper.renewAll();
    await clock.advance(0);
    expect(sent).toHaveLength(1);
    ackLast();
    expect(notes.told.at(-1)).toBe("renewed 5000");
  });

  it("that were refused for want of an owner are tried again soon; those refused for good are over", async () => {
    const notes = [new Notes(), new Notes(), new Notes()];
    for (const [index, one] of notes.entries()) keeper.keep(holdOf(1 + 2 * index), one);
    await clock.advance(2_000);
    keeper.onRefusals([refusal(1, 14, "NO_OWNER"), refusal(3, 9, "FENCED")]);
    keeper.onAcks(encodeRenewals([{ partition: 1, sendNumber: 1, holdIds: [5] }]));
    expect(notes.map(({ told }) => told)).toEqual([["missed NO_OWNER"], ["refused FENCED"], ["renewed 3000"]]);
    expect(keeper.size).toBe(2);
    await clock.advance(500);
    expect(decodeRenewals(sent[1]?.bytes ?? new Uint8Array(0))).toEqual([
      { partition: 1, sendNumber: 2, holdIds: [1, 5] },
    ]);
    keeper.onRefusals([refusal(1, 9, "FENCED", 1n)]);
    expect(notes[0]?.told).toEqual(["missed NO_OWNER", "refused FENCED"]);
  });

  it.each(["TERM_EXPIRED", "REVOKED", "END_OF_TERM", "NOT_HOLDER"])("stop after %s", async (reason) => {
    const notes = new Notes();
    keeper.keep(holdOf(1), notes);
    await clock.advance(2_000);
    keeper.onRefusals([refusal(1, 9, reason)]);
    await clock.advance(10_000);
    expect(notes.told).toEqual([`refused ${reason}`]);
    expect(sent).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it("stop when the keeping is disposed, and leave no timer behind", async () => {
    const notes = new Notes();
    const keeping = keeper.keep(holdOf(1), notes);
    await clock.advance(2_000);
    keeping[Symbol.dispose]();
    keeping[Symbol.dispose]();
    ackLast();
    keeping.renewNow();
    await clock.advance(10_000);
    expect(notes.told).toEqual([]);
    expect(sent).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it("are made at once when asked for, and the interval starts anew", async () => {
    const keeping = keeper.keep(holdOf(1), new Notes());
    await clock.advance(500);
    keeping.renewNow();
    await clock.advance(0);
    await clock.advance(2_000);
    expect(sent.map(({ atMs }) => atMs)).toEqual([1_500, 3_500]);
  });

  it("of different intervals have their own pace", async () => {
    keeper.keep(holdOf(1, { renewIntervalMs: 1_000 }), new Notes());
    keeper.keep(holdOf(3, { renewIntervalMs: 3_000 }), new Notes());
    await clock.advance(3_000);
    const held = sent.flatMap(({ bytes }) => decodeRenewals(bytes).flatMap(({ holdIds }) => holdIds));
    expect(held.sort()).toEqual([1, 1, 1, 3]);
  });
});

describe("news", () => {
  it("are told to the term that they are about", () => {
    const [first, second] = [new Notes(), new Notes()];
    keeper.keep(holdOf(1), first);
    keeper.keep(holdOf(2), second);
    const lease = { namespace: "tests", name: "lease-1" };
    const mark = (token: bigint) => ({ preferredHolder: "b", token, reason: "" }) as never;
    const push = (value: object) => keeper.onPush({ push: { $case: "endOfTerm", value: value as never } });
    push({ lease, endOfTerm: mark(10n), cleared: false });
    push({ lease, endOfTerm: mark(11n), cleared: false });
    push({ lease, endOfTerm: undefined, cleared: true });
    const endReason = TermEndReason.REVOKED;
    keeper.onPush({ push: { $case: "termEnded", value: { lease, token: 10n, endReason, note: "" } } });
    keeper.onPush({ push: undefined });
    expect(first.told).toEqual(["marked b", "cleared ", `ended ${endReason}`]);
    expect(second.told).toEqual([]);
  });
});

it("keeps ten thousand holds for the price of a message each interval", async () => {
  let renewed = 0;
  const listener = new Notes();
  listener.onRenewed = () => {
    renewed += 1;
  };
  for (let id = 1; id <= 10_000; id += 1) keeper.keep(holdOf(id * 3, { partition: id % 8 }), listener);
  expect(clock.pendingTimers).toBe(1);
  for (let round = 0; round < 5; round += 1) {
    await clock.advance(2_000);
    ackLast();
  }
  expect(sent).toHaveLength(5);
  expect(renewed).toBe(50_000);
});
