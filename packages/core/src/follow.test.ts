import { describe, expect, it } from "vitest";
import { followBatch, keepLastRead, type LoggedBatch, lastReadOf } from "./follow.ts";
import type { Event } from "./partition/event.ts";
import { emptyPartition } from "./partition/state.ts";
import { takeSnapshot } from "./snapshot/take.ts";
import { Desk } from "./testing/desk.ts";

const cause = { author: "", reason: "" };
const owner = (epoch: bigint): Event => ({
  kind: "ownerChanged",
  epoch,
  owner: `o${epoch}`,
  previousEpoch: epoch - 1n,
  previousOwner: "",
  isHandedOver: false,
  ...cause,
});
const idOf = (sequence: bigint) => (sequence === 0n ? "" : `id-${sequence}`);
function batch({ prev = 0n, sequence = 10n, ...more }: Partial<LoggedBatch>): LoggedBatch {
  const ids = { prev, prevBatchId: idOf(prev), sequence, batchId: idOf(sequence) };
  return { partition: 3, epoch: 1n, ...ids, wallMs: 5, events: [], ...more };
}

describe("following the log (rule 2)", () => {
  function started() {
    const state = emptyPartition(3, 0);
    expect(followBatch(state, batch({ events: [owner(1n)] }), 1)).toEqual({ kind: "applied" });
    return state;
  }

  it("applies the batch after the last one and nothing else", () => {
    const state = started();
    expect(followBatch(state, batch({ sequence: 10n }), 2)).toEqual({ kind: "duplicate" });
    expect(followBatch(state, batch({ prev: 12n, sequence: 13n }), 2)).toEqual({
      kind: "gap",
      expectedPrev: 10n,
      prev: 12n,
    });
    expect(followBatch(state, batch({ prev: 10n, sequence: 11n }), 2)).toEqual({ kind: "applied" });
    expect(state.lastSequence).toBe(11n);
  });

  it.each([
    ["of another partition", { partition: 4, prev: 10n, sequence: 11n }],
    ["that follows itself", { prev: 11n, sequence: 11n }],
    ["that follows one before the last applied", { prev: 9n, sequence: 12n }],
    ["that follows another batch at that sequence", { prev: 10n, prevBatchId: "other", sequence: 11n }],
    ["that follows none, though one is applied", { prev: 10n, prevBatchId: "", sequence: 11n }],
    ["of an older epoch", { epoch: 0n, prev: 10n, sequence: 11n }],
    ["of an epoch that nobody announced", { epoch: 2n, prev: 10n, sequence: 11n }],
    ["whose owner took an epoch that is not newer", { prev: 10n, sequence: 11n, events: [owner(1n)] }],
    ["whose epoch is not its owner's", { epoch: 3n, prev: 10n, sequence: 11n, events: [owner(2n)] }],
  ])("halts at a batch %s and applies nothing", (_, more) => {
    const state = started();
    const before = takeSnapshot(state);
    expect(followBatch(state, batch(more), 2).kind).toBe("broken");
    expect(takeSnapshot(state)).toEqual(before);
  });

  it("accepts a new owner, which resets the hand-over", () => {
    const state = started();
    followBatch(
      state,
      batch({
        prev: 10n,
        sequence: 11n,
        events: [{ kind: "ownerHandedOver", successor: "o2", owesPause: true, ...cause }],
      }),
      2,
    );
    expect(state).toMatchObject({ successor: "o2", owesPause: true });
    expect(followBatch(state, batch({ epoch: 2n, prev: 11n, sequence: 12n, events: [owner(2n)] }), 3).kind).toBe(
      "applied",
    );
    expect(state).toMatchObject({ epoch: 2n, owner: "o2", successor: "", owesPause: false, lastSequence: 12n });
  });

  it.each([
    ["the same batch there", { prev: 10n, sequence: 12n }, "applied"],
    ["another batch there", { prev: 10n, sequence: 12n, batchId: "other" }, "broken"],
    ["an earlier batch", { prev: 10n, sequence: 11n }, "applied"],
    ["a later batch that passes it over", { prev: 10n, sequence: 13n }, "broken"],
  ])("who had read up to 12 and starts again at 10 meets %s: %s", (_, more, kind) => {
    const before = started();
    for (const sequence of [11n, 12n]) followBatch(before, batch({ prev: sequence - 1n, sequence }), 2);
    const again = started();
    expect(keepLastRead(again, lastReadOf(before))).toBeUndefined();
    expect(lastReadOf(again)).toEqual({ sequence: 12n, batchId: "id-12" });
    expect(followBatch(again, batch(more), 3).kind).toBe(kind);
    if (again.lastSequence === 12n) expect(again.lastRead).toBeUndefined();
  });

  it("sees by a snapshot alone that its log has another batch in the place of the last one", () => {
    const lastRead = { sequence: 10n, batchId: "other" };
    expect(keepLastRead(started(), lastRead)).toMatchObject({ why: expect.stringContaining("the log went back") });
    expect(keepLastRead(started(), { ...lastRead, sequence: 9n })).toBeUndefined();
  });

  it("facts about what is not known change nothing (apply is total)", () => {
    const state = started();
    const lease = "billing/none";
    const candidate = "a";
    const events: Event[] = [
      { kind: "renewed", holdIds: [1, 2], sendNumber: 1n, ...cause },
      { kind: "holdChanged", lease, holdId: 4, leaseDurationMs: 1, ...cause },
      {
        kind: "holdEnded",
        lease,
        holdId: 4,
        token: 1n,
        endReason: "released",
        heldForMs: 0,
        successor: "",
        lockDelayMs: 0,
        ...cause,
      },
      { kind: "pendingLapsed", lease, token: 1n, candidate, ...cause },
      { kind: "leaseDeleted", lease, isRemoved: false, token: 1n, endReason: "revoked", ...cause },
      { kind: "candidateRenewed", lease, candidate, ...cause },
      { kind: "candidateAnswered", lease, candidate, pingNumber: 1n, ...cause },
      { kind: "candidateRemoved", lease, candidate, removal: "withdrawn", ...cause },
      { kind: "candidateCooledDown", lease, candidate, coolDownMs: 1, hasMissedAccept: false, ...cause },
      { kind: "candidatesPinged", lease, questions: [{ candidate, pingNumber: 1n }], coordinator: "", ...cause },
      { kind: "attemptsForgotten", client: "c", belowNumber: 4n, ...cause },
      { kind: "tombstoneRemoved", lease, ...cause },
    ];
    const before = takeSnapshot(state);
    followBatch(state, batch({ prev: 10n, sequence: 11n, events }), 2);
    expect(takeSnapshot(state)).toEqual({ ...before, sequence: 11n, batchId: "id-11" });
  });

  it("announces snapshots and settings, which are replicated", () => {
    const desk = new Desk();
    const snapshot = { name: "0/1000", sequence: 1_000n, digest: "ab", sizeBytes: 5 };
    desk.run({ kind: "announceSnapshot", snapshot }, "owner");
    desk.run({ kind: "handOver", successor: "other" }, "owner");
    expect(desk.follower).toMatchObject({ snapshot, successor: "other" });
    const { settings } = desk.state;
    expect(desk.run({ kind: "changeSettings", settings: { ...settings } }, "owner")).toEqual({
      kind: "noted",
      position: undefined,
    });
    desk.run({ kind: "changeSettings", settings: { ...settings, acceptWindowMs: 7 } }, "owner");
    expect(desk.follower.settings.acceptWindowMs).toBe(7);
  });
});
