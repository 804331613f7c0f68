import { describe, expect, it } from "vitest";
import { ownershipDecision } from "./decision.ts";
import { desiredOwner, rankReplicas } from "./placement.ts";
import { noTakeovers } from "./takeover-history.ts";
import { defaultOwnershipTiming as timing } from "./timing.ts";
import type { LoggedOwnership, OwnershipView, ReplicaSight } from "./view.ts";

const now = 100_000;
const partition = 3;

/** The replicas in the order in which the partition would go to them. */
const [first = "", second = "", third = ""] = rankReplicas(partition, ["store-a", "store-b", "store-c"]);

/** A replica that beats and has long settled, unless said otherwise. */
function replica(instance: string, change: Partial<ReplicaSight> = {}): ReplicaSight {
  return { instance, heardAtMs: now - 100, uptimeMs: 60_000, isLeaving: false, owned: new Map(), ...change };
}

const ownedByThird: LoggedOwnership = { epoch: 5n, owner: third, successor: "", lastBatchAtMs: now - 5_000 };

/** `first` sees that the partition is owned by `third`, which beats for it; `second` lives too. */
function view(change: Partial<OwnershipView> = {}, log: Partial<LoggedOwnership> = {}): OwnershipView {
  return {
    partition,
    self: first,
    log: { ...ownedByThird, ...log },
    isOwner: false,
    isCaughtUp: true,
    isLeaving: false,
    connectedSinceMs: 0,
    uptimeMs: 60_000,
    replicas: [replica(second), replica(third, { owned: new Map([[partition, 5n]]) })],
    history: noTakeovers,
    lastHandOverAtMs: undefined,
    ...change,
  };
}

const decide = (seen: OwnershipView, at = now) => ownershipDecision(seen, at, timing);
const silentThird = (heardAtMs: number) => replica(third, { heardAtMs, owned: new Map([[partition, 5n]]) });

describe("a replica that follows", () => {
  it("waits as long as the owner's beats come, whatever belongs to it", () => {
    expect(decide(view())).toEqual({ kind: "wait", untilMs: now - 100 + timing.silenceMs });
  });

  it("waits as long as the log moves, also without beats", () => {
    const seen = view({ replicas: [replica(second)] }, { lastBatchAtMs: now - 999 });
    expect(decide(seen)).toEqual({ kind: "wait", untilMs: now + 1 });
  });

  it("takes over when both have been silent, if it is the first in line", () => {
    const seen = view({ replicas: [replica(second), silentThird(now - 1_000)] });
    expect(decide(seen, now - 1)).toEqual({ kind: "wait", untilMs: now });
    expect(decide(seen)).toEqual({ kind: "takeOver", isHandedOver: false });
  });

  it("does not take a beat without the partition, or of an older epoch, for the owner's", () => {
    for (const owned of [new Map<number, bigint>(), new Map([[partition, 4n]])]) {
      const seen = view({ replicas: [replica(second), replica(third, { owned })] });
      expect(decide(seen)).toEqual({ kind: "takeOver", isHandedOver: false });
    }
  });

  it("lets those before it in line go first, and acts when they do not", () => {
    const replicas = [replica(first), silentThird(now - 1_000)];
    expect(decide(view({ self: second, replicas }))).toEqual({ kind: "wait", untilMs: now + timing.staggerMs });
    const later = now + timing.staggerMs;
    const still = [replica(first, { heardAtMs: later }), silentThird(now - 1_000)];
    expect(decide(view({ self: second, replicas: still }), later)).toEqual({ kind: "takeOver", isHandedOver: false });
  });

  it("stands behind those that have settled when it has only just come", () => {
    const replicas = [replica(second), silentThird(now - 1_000)];
    expect(decide(view({ uptimeMs: 500, replicas }))).toEqual({ kind: "wait", untilMs: now + timing.staggerMs });
    expect(decide(view({ uptimeMs: 500, replicas: [silentThird(now - 1_000)] })).kind).toBe("takeOver");
  });

  it("does not wait for a replica that is leaving or silent", () => {
    for (const other of [replica(first, { isLeaving: true }), replica(first, { heardAtMs: now - 1_000 })]) {
      const seen = view({ self: second, replicas: [other, silentThird(now - 1_000)] });
      expect(decide(seen).kind).toBe("takeOver");
    }
  });

  it("counts silence only while it was listening, and never acts within two intervals of its own reconnect", () => {
    const replicas = [silentThird(now - 60_000)];
    const reconnected = view({ replicas, connectedSinceMs: now - 10 }, { lastBatchAtMs: now - 60_000 });
    expect(decide(reconnected)).toEqual({ kind: "wait", untilMs: now - 10 + timing.silenceMs });
    const unowned = view({ replicas: [], connectedSinceMs: now - 10 }, { epoch: 0n, owner: "" });
    expect(decide(unowned)).toEqual({ kind: "wait", untilMs: now - 10 + 2 * timing.beatIntervalMs });
  });

  it.each([
    ["it is not connected", { connectedSinceMs: undefined }],
    ["it has not caught up", { isCaughtUp: false }],
    ["it is leaving", { isLeaving: true }],
  ])("takes nothing while %s", (_, change) => {
    const seen = view({ replicas: [], ...change }, { successor: first });
    expect(decide(seen)).toEqual({ kind: "follow" });
  });

  it("takes what was handed to it at once, also right after a reconnect", () => {
    const seen = view({ connectedSinceMs: now - 1 }, { successor: first, lastBatchAtMs: now });
    expect(decide(seen)).toEqual({ kind: "takeOver", isHandedOver: true });
  });

  it("leaves what was handed to another, and takes it after the usual silence if that one does not", () => {
    const replicas = [replica(second), replica(third)];
    const seen = view({ replicas }, { successor: second, lastBatchAtMs: now });
    expect(decide(seen)).toEqual({ kind: "wait", untilMs: now + timing.silenceMs });
    const late = now + timing.silenceMs;
    expect(decide(view({ replicas: [] }, { successor: second, lastBatchAtMs: now }), late)).toEqual({
      kind: "takeOver",
      isHandedOver: true,
    });
  });

  it("does not take back what it has just handed over, unless nobody else takes it", () => {
    const seen = view({ replicas: [replica(second)] }, { owner: first, successor: second, lastBatchAtMs: now });
    expect(decide(seen)).toEqual({ kind: "wait", untilMs: now + timing.silenceMs });
  });

  it("takes its own partition again at once after it has lost its state, within the back-off", () => {
    expect(decide(view({}, { owner: first, lastBatchAtMs: now })).kind).toBe("takeOver");
    const history = { takeovers: 3, lastAtMs: now - 1 };
    expect(decide(view({ history }, { owner: first }))).toEqual({ kind: "wait", untilMs: now - 1 + 1_000 });
  });

  it("waits out its back-off before it tries again", () => {
    const history = { takeovers: 4, lastAtMs: now - 100 };
    const seen = view({ replicas: [], history }, { lastBatchAtMs: now - 50_000 });
    expect(decide(seen)).toEqual({ kind: "wait", untilMs: now - 100 + 2_000 });
  });

  it("takes a partition that nobody has ever owned after two intervals", () => {
    const seen = view({ replicas: [], uptimeMs: 0 }, { epoch: 0n, owner: "", lastBatchAtMs: 0 });
    expect(decide(seen)).toEqual({ kind: "takeOver", isHandedOver: false });
  });
});

describe("a replica that owns", () => {
  const owned = (change: Partial<OwnershipView> = {}, log: Partial<LoggedOwnership> = {}): OwnershipView =>
    view({ self: third, isOwner: true, replicas: [replica(first), replica(second)], ...change }, log);

  it("hands over to the replica that the partition belongs to", () => {
    expect(decide(owned())).toEqual({ kind: "handOver", to: first });
  });

  it("keeps what belongs to it", () => {
    const self = desiredOwner(partition, [first, second, third]) ?? "";
    expect(decide(owned({ self }, { owner: self }))).toEqual({ kind: "keep" });
  });

  it.each([
    ["has only just come", { uptimeMs: timing.settleMs - 101 }],
    ["is leaving", { isLeaving: true }],
    ["is silent", { heardAtMs: now - timing.silenceMs }],
  ])("hands nothing to a replica that %s", (_, change) => {
    expect(decide(owned({ replicas: [replica(first, change)] }))).toEqual({ kind: "keep" });
  });

  it("hands over one partition at a time", () => {
    const seen = owned({ lastHandOverAtMs: now - 100 });
    expect(decide(seen)).toEqual({ kind: "wait", untilMs: now - 100 + timing.handOverSpacingMs });
  });

  it("hands over at once when it leaves, to the best that has settled, or else to any that lives", () => {
    const leaving = { isLeaving: true, lastHandOverAtMs: now };
    expect(decide(owned(leaving))).toEqual({ kind: "handOver", to: first });
    const fresh = replica(first, { uptimeMs: 0 });
    expect(decide(owned({ ...leaving, replicas: [fresh, replica(second)] }))).toEqual({ kind: "handOver", to: second });
    expect(decide(owned({ ...leaving, replicas: [fresh] }))).toEqual({ kind: "handOver", to: first });
    expect(decide(owned({ ...leaving, replicas: [] }))).toEqual({ kind: "keep" });
  });

  it("keeps while it is cut off, and after its hand-over is in the log", () => {
    expect(decide(owned({ connectedSinceMs: undefined }))).toEqual({ kind: "keep" });
    expect(decide(owned({}, { successor: first }))).toEqual({ kind: "keep" });
  });
});
