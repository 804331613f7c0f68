import { defaultCandidateSpec, defaultLeaseSpec } from "@tenure/core";
import { ghost } from "@tenure/log/memory";
import { describe, expect, it } from "vitest";
import { BatchSize } from "./batch-size.ts";
import { RenewalCall } from "./call.ts";
import { crowdedBatchBytes, fullBatchBytes, type ReplicaOptions } from "./options.ts";
import { claim, readAt, send, tokenOf, World, waitingClaim } from "./testing/world.ts";

const lease = "billing/scheduler";

async function owning(world: World, instance = "a", options: Partial<ReplicaOptions> = {}) {
  const member = await world.join(instance, options);
  member.replica.at(0).takeOver(false);
  await world.run(20);
  expect(member.replica.at(0).role).toBe("owning");
  return member;
}

describe("an owner", () => {
  it("answers after the append is acknowledged, and its followers apply the same", async () => {
    await using world = new World();
    const a = await owning(world);
    const b = await world.join("b");
    const [reply] = await Promise.all([send(a, claim("x", lease)), world.run(20)]);
    expect(reply.kind).toBe("granted");
    expect(b.replica.at(0).role).toBe("following");
    expect(b.replica.at(0).state.leases.get(lease)?.holds[0]?.token).toBe(tokenOf(reply));
    expect(b.replica.revision).toBe(a.replica.at(0).state.lastSequence);
  });

  it("commits calls that come together with one append", async () => {
    await using world = new World();
    const a = await owning(world);
    const before = world.log.messages(0).length;
    const calls = Array.from({ length: 50 }, (_, index) => send(a, claim("x", `billing/job-${index}`)));
    await world.run(20);
    const replies = await Promise.all(calls);
    expect(replies.every(({ kind }) => kind === "granted")).toBe(true);
    expect(world.log.messages(0).length - before).toBe(1);
  });

  it("refuses calls beyond its queue with the limit's name", async () => {
    await using world = new World();
    const member = await world.join("a", { queuedCallsPerPartition: 2 });
    member.replica.at(0).takeOver(false);
    const calls = [1, 2, 3].map((index) => send(member, claim("x", `billing/job-${index}`)));
    await expect(calls[2]).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      details: { applied: "NO", limit: { name: "queued-calls-per-partition", value: 2n } },
    });
    await world.run(20);
    expect((await Promise.all(calls.slice(0, 2))).map(({ kind }) => kind)).toEqual(["granted", "granted"]);
  });

  it("answers a linearizable read only after an append that was sent after it arrived", async () => {
    await using world = new World({ onAppend: () => ({ kind: "delayed", requestMs: 5, replyMs: 5 }) });
    const a = await owning(world);
    const before = world.log.messages(0).length;
    let answer: bigint | undefined;
    void readAt(a, ({ lastSequence }) => lastSequence).then((sequence) => {
      answer = sequence;
    });
    await world.run(9);
    expect(answer).toBeUndefined();
    await world.run(5);
    expect(world.log.messages(0).length - before).toBe(1);
    expect(answer).toBe(world.log.messages(0).at(-1)?.sequence);
  });

  it("grants the first who waits in the same batch as the release", async () => {
    await using world = new World();
    const a = await owning(world);
    const [first] = await Promise.all([send(a, claim("x", lease)), world.run(20)]);
    const second = send(a, waitingClaim("y", lease));
    const third = send(a, waitingClaim("z", lease));
    third.catch(() => undefined);
    await world.run(20);
    const before = world.log.messages(0).length;
    const items = [{ lease, token: tokenOf(first) }];
    const released = send(a, { kind: "release", principal: "x", items });
    await world.run(5);
    expect((await released).kind).toBe("released");
    expect(tokenOf(await second)).toBeGreaterThan(tokenOf(first));
    expect(world.log.messages(0).length - before).toBe(1);
    expect(a.replica.at(0).waiting).toBe(1);
  });

  it("takes a claim out of the queue when its caller has gone", async () => {
    await using world = new World();
    const a = await owning(world);
    const [first] = await Promise.all([send(a, claim("x", lease)), world.run(20)]);
    const gone = new AbortController();
    const second = send(a, waitingClaim("y", lease), gone.signal);
    const third = send(a, waitingClaim("z", lease));
    await world.run(20);
    gone.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    await Promise.all([
      send(a, { kind: "release", principal: "x", items: [{ lease, token: tokenOf(first) }] }),
      world.run(20),
    ]);
    await third;
    expect(a.replica.at(0).state.leases.get(lease)?.holds[0]?.holder).toBe("z");
  });

  it("[107] asks the holder to make way once its minimum term is over, though nothing else happens", async () => {
    await using world = new World();
    const a = await owning(world);
    const spec = { ...defaultLeaseSpec, minimumTermMs: 2_000 };
    const young = claim("old", lease, { claims: [{ lease, mode: "exclusive", units: 1, spec }] });
    const [granted] = await Promise.all([send(a, young), world.run(20)]);
    const grantedAtMs = world.clock.now() - 20;
    const { wait, ...rest } = waitingClaim("new", lease);
    if (wait === undefined) throw new Error("a waiting claim waits");
    send(a, { ...rest, wait: { ...wait, supersedesKey: "" } }).catch(() => undefined);
    const successor = () => a.replica.at(0).state.leases.get(lease)?.endOfTerm?.preferredHolder;
    for (let sendNumber = 2n; world.clock.now() < grantedAtMs + 1_900; sendNumber += 1n) {
      const items = [{ lease, token: tokenOf(granted), sendNumber }];
      await Promise.all([send(a, { kind: "renew", principal: "old", items }), world.run(200)]);
      expect(successor(), "the term is young").toBeUndefined();
    }
    await world.run(600);
    expect(successor()).toBe("new");
  });

  it("expires a term L after its last renewal, not before, and at most a tick and an append later", async () => {
    await using world = new World();
    const a = await owning(world);
    const [granted] = await Promise.all([send(a, claim("x", lease)), world.run(20)]);
    await world.run(500);
    const items = [{ lease, token: tokenOf(granted), sendNumber: 2n }];
    const renewedAtMs = world.clock.now();
    const renewal = send(a, { kind: "renew", principal: "x", items });
    await world.run(5);
    await renewal;
    const held = () => a.replica.at(0).state.leases.get(lease)?.holds.length;
    await world.run(renewedAtMs + 999 - world.clock.now());
    expect(held()).toBe(1);
    await world.run(40);
    expect(held()).toBe(0);
    expect(a.replica.at(0).state.leases.get(lease)?.lastEndReason).toBe("expired");
  });

  it("forgets a name that only ever had a candidate, once that has gone and the time is over", async () => {
    await using world = new World();
    const a = await owning(world, "a", { tombstoneRetentionMs: 1_000 });
    const known = () => a.replica.at(0).state.leases.has(lease);
    const candidate = { principal: "x", lease, candidate: "c" };
    const spec = { ...defaultCandidateSpec, binaryVersion: "1.0.0", compatibilityVersion: "1.0.0" };
    const [reply] = await Promise.all([send(a, { kind: "registerCandidate", ...candidate, spec }), world.run(20)]);
    expect(reply.kind).toBe("candidateChanged");
    await world.run(1_500);
    expect(known()).toBe(true);
    await Promise.all([
      send(a, { kind: "withdrawCandidate", ...candidate, expectedRevision: undefined }),
      world.run(20),
    ]);
    await world.run(1_500);
    expect(known()).toBe(false);
  });

  it("[34] brings very many deleted leases back by one call of their holder, in batches that the log takes", async () => {
    await using world = new World();
    const a = await owning(world, "a", { queuedCallsPerPartition: 10_000, commandsPerBatch: 10_000 });
    const leases = Array.from({ length: 1_200 }, (_, index) => `billing/${index}`);
    await Promise.all([...leases.map((name) => send(a, claim("x", name))), world.run(100)]);
    const { state } = a.replica.at(0);
    const holdIds = leases.map((name) => state.leases.get(name)?.holds[0]?.id ?? 0);
    const deletion = { kind: "delete", principal: "op", expectedRevision: undefined, expectedUid: undefined } as const;
    await Promise.all([...leases.map((name) => send(a, { ...deletion, lease: name })), world.run(100)]);
    a.applied.length = 0;
    const requests = [
      { principal: "x", holdIds: holdIds.slice(0, 1_100), sendNumber: 7n },
      { principal: "x", holdIds: holdIds.slice(1_100), sendNumber: 8n },
    ];
    const call = new RenewalCall(requests, (results) => results.map(({ renewed }) => renewed.length));
    const [answer] = await Promise.all([a.replica.at(0).submit(call).promise, world.run(50)]);
    expect(answer).toEqual([1_100, 100]);
    expect(leases.every((name) => state.leases.get(name)?.deletion === undefined)).toBe(true);
    const restored = a.applied.map(({ events }) => events.filter(({ kind }) => kind === "leaseRestored").length);
    expect(restored.filter((count) => count > 0)).toEqual([512, 512, 176]);
  });

  it("ends terms of a whole fleet in batches that the log takes", async () => {
    await using world = new World();
    const a = await owning(world, "a", { queuedCallsPerPartition: 10_000, commandsPerBatch: 10_000 });
    const leases = Array.from({ length: 1_500 }, (_, index) => `billing/${index}`);
    await Promise.all([...leases.map((name) => send(a, claim("x", name))), world.run(100)]);
    const held = () => leases.filter((name) => a.replica.at(0).state.leases.get(name)?.isHeld).length;
    expect(held()).toBe(1_500);
    a.applied.length = 0;
    await world.run(1_500);
    expect(held()).toBe(0);
    const sizes = a.applied.map(({ events }) => new BatchSize(events).bytes);
    expect(Math.max(...sizes)).toBeLessThan(crowdedBatchBytes + fullBatchBytes);
  });

  it("expires nobody for a while after an outage of the store", async () => {
    await using world = new World();
    const a = await owning(world);
    await Promise.all([send(a, claim("x", lease)), world.run(20)]);
    world.log.failOver(3_000);
    a.replica.noteConnectionLost();
    await world.run(3_200);
    const held = () => a.replica.at(0).state.leases.get(lease)?.holds.length;
    expect(held()).toBe(1);
    // R + T + 1 s after the first acknowledged append.
    await world.run(900);
    expect(held()).toBe(1);
    await world.run(1_000);
    expect(held()).toBe(0);
  });
});

describe("an append of unknown outcome", () => {
  it("keeps its callers waiting until the log has shown it, and then tells what happened", async () => {
    let isLosing = false;
    await using world = new World({
      onAppend: () => (isLosing ? { kind: "lostReply", requestMs: 0 } : { kind: "delayed", requestMs: 0, replyMs: 0 }),
    });
    const a = await owning(world);
    isLosing = true;
    let answer: string | undefined;
    void send(a, claim("x", lease)).then(({ kind }) => {
      answer = kind;
    });
    await world.run(50);
    expect(answer).toBeUndefined();
    await world.run(100);
    expect(answer).toBe("granted");
    expect(world.log.messages(0)).toHaveLength(2);
  });

  it("is not acknowledged any more once the partition has halted, even if the log would take it", async () => {
    let isLost = false;
    const ok = { kind: "delayed", requestMs: 1, replyMs: 1 } as const;
    await using world = new World({ onAppend: () => (isLost ? { kind: "lostRequest" } : ok) });
    const a = await owning(world);
    isLost = true;
    const call = send(a, claim("x", lease));
    call.catch(() => undefined);
    await world.run(50);
    a.replica.onWentBack(0, 1n, 2n);
    isLost = false;
    await world.run(1_000);
    await expect(call).rejects.toMatchObject({ details: { applied: "UNKNOWN" } });
    expect(a.replica.at(0).role).toBe("halted");
    expect(a.replica.at(0).ownEpoch).toBeUndefined();
  });

  it("is lost for certain when another owner's batch stands there: nothing of it was applied", async () => {
    let isHaunted = false;
    await using world = new World({
      onAppend: ({ client, timeoutMs }) =>
        isHaunted && client === "a" ? ghost(timeoutMs, 200) : { kind: "delayed", requestMs: 0, replyMs: 0 },
    });
    const a = await owning(world);
    const b = await world.join("b");
    isHaunted = true;
    const lost = send(a, claim("x", lease));
    const queued = new Promise((resolve) => void lost.catch(resolve));
    await world.run(20);
    b.replica.at(0).takeOver(false);
    await world.run(400);
    await expect(queued).resolves.toMatchObject({ reason: "OWNER_CHANGED", details: { applied: "NO" } });
    isHaunted = false;
    await world.run(1_000);
    expect(a.replica.at(0).role).toBe("following");
    expect(a.replica.at(0).state.leases.size).toBe(0);
    const [reply] = await Promise.all([send(b, claim("y", lease)), world.run(20)]);
    expect(reply.kind).toBe("granted");
    expect(a.replica.at(0).state.leases.get(lease)?.holds[0]?.holder).toBe("y");
  });
});

describe("a change of owner", () => {
  it("by hand-over decides what is queued, then sends everyone to the successor", async () => {
    await using world = new World();
    const a = await owning(world);
    const b = await world.join("b");
    const accepted = send(a, claim("x", lease));
    const waiting = send(a, waitingClaim("y", lease));
    const handedOver = a.replica.at(0).handOver("b");
    const refused = send(a, claim("x", "billing/later"));
    await Promise.all([
      expect(waiting).rejects.toMatchObject({ reason: "OWNER_CHANGED", details: { applied: "NO" } }),
      expect(refused).rejects.toMatchObject({ reason: "OWNER_CHANGED", details: { applied: "NO" } }),
      world.run(20),
    ]);
    await handedOver;
    expect((await accepted).kind).toBe("granted");
    expect(b.replica.at(0).state.successor).toBe("b");
    b.replica.at(0).takeOver(true);
    await world.run(20);
    expect([a.replica.at(0).role, b.replica.at(0).role]).toEqual(["following", "owning"]);
    expect(a.replica.at(0).state).toMatchObject({ epoch: 2n, owner: "b" });
  });

  it("shows an owner that was paused that it is replaced, without loading anything", async () => {
    await using world = new World();
    const a = await owning(world);
    const b = await world.join("b");
    b.replica.at(0).takeOver(false);
    await world.run(50);
    expect(a.replica.at(0).role).toBe("following");
    expect(a.roles).not.toContain("loading");
    expect(a.replica.at(0).state.owner).toBe("b");
  });

  it("costs the loser of a race for it no reload", async () => {
    await using world = new World();
    const a = await world.join("a");
    const b = await world.join("b");
    a.replica.at(0).takeOver(false);
    b.replica.at(0).takeOver(false);
    await world.run(20);
    expect([a.replica.at(0).role, b.replica.at(0).role].toSorted()).toEqual(["following", "owning"]);
    expect([...a.roles, ...b.roles]).not.toContain("loading");
    expect(a.replica.at(0).state.owner).toBe(b.replica.at(0).state.owner);
    expect(a.replica.at(0).state.lastSequence).toBe(b.replica.at(0).state.lastSequence);
  });

  it("lets a new owner count from its own sight of the renewals", async () => {
    await using world = new World();
    const a = await owning(world);
    const b = await world.join("b");
    await Promise.all([send(a, claim("x", lease)), world.run(20)]);
    await world.run(800);
    await Promise.all([a.replica.at(0).handOver("b"), world.run(20)]);
    b.replica.at(0).takeOver(true);
    await world.run(80);
    expect(b.replica.at(0).state.leases.get(lease)?.holds).toHaveLength(1);
    await world.run(200);
    expect(b.replica.at(0).state.leases.get(lease)?.holds).toHaveLength(0);
  });

  it("without a hand-over gives holders time to renew before anybody expires", async () => {
    await using world = new World();
    const a = await owning(world);
    const b = await world.join("b");
    await Promise.all([send(a, claim("x", lease)), world.run(20)]);
    await world.run(800);
    b.replica.at(0).takeOver(false);
    // R + T + 1 s = 1.3 s after its first append, though L of 1 s has passed long before.
    await world.run(1_290);
    expect(b.replica.at(0).state.leases.get(lease)?.holds).toHaveLength(1);
    await world.run(60);
    expect(b.replica.at(0).state.leases.get(lease)?.holds).toHaveLength(0);
  });

  it("hands on what holders are owed", async () => {
    await using world = new World();
    const a = await owning(world);
    const b = await world.join("b");
    await Promise.all([send(a, claim("x", lease)), world.run(800)]);
    a.replica.noteConnectionLost();
    await Promise.all([a.replica.at(0).handOver("b"), world.run(20)]);
    expect(b.replica.at(0).state).toMatchObject({ successor: "b", owesPause: true });
    b.replica.at(0).takeOver(true);
    await world.run(1_290);
    expect(b.replica.at(0).state.leases.get(lease)?.holds).toHaveLength(1);
    await world.run(60);
    expect(b.replica.at(0).state.leases.get(lease)?.holds).toHaveLength(0);
  });
});

describe("a log that has lost its end and grown again", () => {
  /** Two replicas have read the grant to x, which the log has lost. */
  async function bereft(world: World) {
    const a = await owning(world);
    const b = await world.join("b");
    await Promise.all([send(a, claim("x", lease)), world.run(20)]);
    const { lastSequence } = b.replica.at(0).state;
    world.log.lose(lastSequence - 1n);
    return { a, b, lastSequence };
  }

  /** The same, and c, which knows nothing of it, has appended as much again. */
  async function overtaken(world: World) {
    const { a, b, lastSequence } = await bereft(world);
    const c = await world.join("c");
    c.replica.at(0).takeOver(false);
    await world.run(20);
    expect(c.replica.at(0).state.lastSequence).toBe(lastSequence);
    return { a, b, c };
  }

  it("halts a follower when the next batch follows another than it has read", async () => {
    await using world = new World();
    const { b, c } = await overtaken(world);
    expect(b.replica.at(0).role).toBe("following");
    await Promise.all([send(c, claim("y", lease)), world.run(20)]);
    expect(b.replica.at(0).haltedWhy).toContain("the log went back");
    expect(c.replica.at(0).role).toBe("owning");
  });

  it("halts who takes over by what was lost, before it answers anybody", async () => {
    await using world = new World();
    const { b, c } = await overtaken(world);
    b.replica.at(0).takeOver(false);
    const call = send(b, claim("y", "billing/other"));
    await Promise.all([expect(call).rejects.toMatchObject({ code: "UNAVAILABLE" }), world.run(20)]);
    expect(b.replica.at(0).haltedWhy).toContain("the log went back");
    expect(c.replica.at(0).role).toBe("owning");
  });

  it("halts a follower that comes back from an outage, though what it is told next chains for it", async () => {
    await using world = new World();
    const { a, b, c } = await overtaken(world);
    b.replica.noteConnectionLost();
    await world.run(20);
    expect(b.replica.at(0).haltedWhy).toContain("the log went back");
    c.replica.noteConnectionLost();
    await world.run(20);
    expect([a, c].map(({ replica }) => replica.at(0).role)).toEqual(["owning", "owning"]);
  });

  it("is waited for by one who comes back when nothing stands yet where it has read", async () => {
    await using world = new World();
    const { b } = await bereft(world);
    b.replica.noteConnectionLost();
    await world.run(300);
    expect(b.replica.at(0).role).toBe("following");
    const c = await world.join("c");
    c.replica.at(0).takeOver(false);
    await world.run(300);
    expect(b.replica.at(0).haltedWhy).toContain("the log went back");
    expect(c.replica.at(0).role).toBe("owning");
  });

  it("is not taken over by one who has read more than it shows", async () => {
    await using world = new World();
    const { b, lastSequence } = await bereft(world);
    b.replica.at(0).reload("to see what is left");
    await world.run(20);
    expect(b.replica.at(0).state.lastSequence).toBe(lastSequence - 1n);
    expect(b.replica.knownUpTo(0)).toBe(lastSequence);
    b.replica.at(0).takeOver(false);
    expect(b.replica.at(0).role).toBe("loading");
  });

  it("halts an owner that comes back from an outage, before it appends anything or answers anybody", async () => {
    await using world = new World();
    const { a, b, c } = await overtaken(world);
    const last = world.log.lastSequence;
    a.replica.noteConnectionLost();
    const call = send(a, claim("y", "billing/other"));
    await Promise.all([expect(call).rejects.toMatchObject({ reason: "APPEND_UNKNOWN" }), world.run(20)]);
    expect(a.replica.at(0).haltedWhy).toContain("the log went back");
    expect(world.log.lastSequence).toBe(last);
    expect([b, c].map(({ replica }) => replica.at(0).role)).toEqual(["following", "owning"]);
  });
});

describe("loading anew", () => {
  it("ends an ownership first, so that nobody decides on a state that is replaced", async () => {
    await using world = new World();
    const a = await owning(world);
    const [first] = await Promise.all([send(a, claim("x", lease)), world.run(20)]);
    const underWay = send(a, claim("y", "billing/other")).catch((thrown: unknown) => thrown);
    const partition = a.replica.at(0);
    a.replica.onReset(0, "what follows was purged");
    a.replica.onReset(0, "what follows was purged");
    await world.run(50);
    expect(await underWay).toMatchObject({ reason: "OWNER_CHANGED" });
    expect([partition.role, partition.ownEpoch]).toEqual(["following", undefined]);
    expect(partition.state.leases.get(lease)?.holds[0]?.token).toBe(tokenOf(first));
    partition.takeOver(false);
    const [again] = await Promise.all([send(a, claim("y", "billing/other")), world.run(20)]);
    expect(tokenOf(again)).toBeGreaterThan(0n);
    expect(partition.state.lastSequence).toBe(world.log.messages(0).at(-1)?.sequence);
  });

  it("is not over while the tail ends before what had been read", async () => {
    await using world = new World();
    const a = await owning(world);
    const b = await world.join("b");
    await Promise.all([send(a, claim("x", lease)), world.run(20)]);
    const partition = b.replica.at(0);
    // A server that lags: the tail begins anew and has caught up, but brings nothing yet.
    b.transport.cut();
    partition.reload("the consumer was lost");
    await world.run(300);
    partition.onCaughtUp();
    expect(partition.role).toBe("loading");
    await expect(partition.view(() => "shown")).rejects.toMatchObject({ reason: "REPLICA_BEHIND" });
    b.transport.heal();
    await world.run(300);
    expect([partition.role, partition.state.leases.has(lease)]).toEqual(["following", true]);
  });
});

describe("a snapshot", () => {
  it("is made after so many batches, announced, and enough for a fresh replica after a purge", async () => {
    await using world = new World();
    const a = await world.join("a", { snapshotAfterBatches: 5 });
    a.replica.at(0).takeOver(false);
    await world.run(20);
    for (let index = 0; index < 8; index += 1) {
      await Promise.all([send(a, claim("x", `billing/job-${index}`)), world.run(20)]);
    }
    const reference = a.replica.at(0).state.snapshot;
    if (reference === undefined) throw new Error("no snapshot was announced");
    world.log.purge(0, reference.sequence);
    const b = await world.join("b");
    await world.run(200);
    expect(b.replica.at(0).role).toBe("following");
    expect([...b.replica.at(0).state.leases.keys()].sort()).toEqual([...a.replica.at(0).state.leases.keys()].sort());
    expect(b.faults).toEqual([]);
  });
});

describe("a plain read", () => {
  it("never shows what an append in flight may still lose", async () => {
    let isSlow = false;
    await using world = new World({
      onAppend: () => ({ kind: "delayed", requestMs: isSlow ? 10 : 0, replyMs: 0 }),
    });
    const a = await owning(world);
    isSlow = true;
    const granted = send(a, claim("x", lease));
    await world.run(5);
    let seen: number | undefined;
    void a.replica
      .at(0)
      .view(({ leases }) => leases.size)
      .then((size) => {
        seen = size;
      });
    await world.run(1);
    expect(seen).toBeUndefined();
    await world.run(10);
    await granted;
    expect(seen).toBe(1);
  });
});
