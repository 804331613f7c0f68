import { createClient } from "@tenure/bus";
import {
  CandidateServiceDefinition,
  CandidateServiceGetRequest,
  CandidateServiceRegisterRequest,
  CollectionOutcome,
  type Dependent,
  durationFromMs,
  HoldBackReason,
  IdentityServiceCollectRequest,
  IdentityServiceDeregisterRequest,
  LeaseServiceAcquireRequest,
  LeaseServiceGetRequest,
  LeaseServiceUpdateRequest,
  ReadConsistency,
  StrategyKind,
  TermEndReason,
} from "@tenure/contracts";
import { identityAnnotations } from "@tenure/core";
import type { Deployment } from "@tenure/testkit";
import { waitFor } from "@tenure/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { short, shortArgs, startIdentityDeployment } from "./deployment.ts";
import { Fleet, register } from "./fleet.ts";
import { LeaseRemovals } from "./lease-removals.ts";
import { Watcher } from "./watcher.ts";

const call = { principal: "test", deadlineMs: 20_000 };
const linearizable = { consistency: ReadConsistency.LINEARIZABLE };
const namespace = "tenure-identities";
const strategy = { kind: StrategyKind.OLDEST_COMPATIBILITY_VERSION };
let deployment: Deployment;

afterEach(async () => {
  await deployment?.[Symbol.asyncDispose]();
});

const collect = (request: Parameters<typeof IdentityServiceCollectRequest.fromPartial>[0]) =>
  deployment.identities.collect(IdentityServiceCollectRequest.fromPartial(request), call);
const stateOf = async () => (await collect({ stateOnly: true })).state;
const collector = () =>
  waitFor(async () => (await stateOf().catch(() => undefined))?.collector || undefined, { timeoutMs: 30_000 });
const registerMany = (count: number, component: string) =>
  Promise.all(Array.from({ length: count }, (_, place) => register(deployment, { component, host: `h${place}` })));
const leaseOf = async (lease: { namespace: string; name: string }) =>
  (await deployment.leases.get(LeaseServiceGetRequest.fromPartial({ lease, read: linearizable }), call)).lease;

describe("collection", () => {
  it("holds back when half of the fleet vanishes, says so, and goes on at an operator's word", {
    timeout: 240_000,
  }, async () => {
    deployment = await startIdentityDeployment({ identity: 2 });
    using fleet = new Fleet(deployment.bus, short.beatMs / 2);
    const fleetOf = await registerMany(1_000, "fleet");
    for (const identity of fleetOf) fleet.add(identity);
    await using removals = await new LeaseRemovals(deployment, namespace).synced();
    await collector();
    const vanished = fleetOf.slice(0, 500);
    for (const { id } of vanished) fleet.silence(id);
    const held = await waitFor(
      async () => {
        const state = await stateOf();
        return state?.holdBack === HoldBackReason.TOO_MANY_DEAD && state.dead === 500 ? state : undefined;
      },
      { timeoutMs: 60_000 },
    );
    expect(held).toMatchObject({ total: 1_000, collected: 0n });
    await expect(collect({})).rejects.toMatchObject({ reason: "COLLECTION_HELD_BACK", code: "FAILED_PRECONDITION" });
    const shown = await collect({ dryRun: true });
    expect(shown.items).toHaveLength(500);
    expect(shown.items.every(({ outcome }) => outcome === CollectionOutcome.HELD_BACK)).toBe(true);
    expect(removals.counts.size).toBe(0);
    await expect(collect({ goOnHoldBackId: "another", note: { reason: "x" } })).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
    });
    await expect(collect({ goOnHoldBackId: held.holdBackId })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const word = { goOnHoldBackId: held.holdBackId, note: { reason: "the rack burned down" } };
    // Those that died last may still be in their grace: collection goes on under the same word.
    await collect(word);
    await waitFor(() => removals.counts.size === 500, { timeoutMs: 60_000 });
    const gone = new Set(removals.counts.keys());
    expect(vanished.every(({ id }) => gone.has(id))).toBe(true);
    expect([...removals.counts.values()].every((count) => count === 1)).toBe(true);
    await waitFor(async () => (await stateOf())?.holdBack === HoldBackReason.UNSPECIFIED);
    expect(await stateOf()).toMatchObject({ dead: 0, total: 500, collected: 500n });
    expect(fleet.refused.size).toBe(0);
  });

  it("[99] is taken over when the collector dies in the middle: everyone once, nobody early", {
    timeout: 240_000,
  }, async () => {
    deployment = await startIdentityDeployment({ identity: 2 }, [...shortArgs, "--hold-back-percent=100"]);
    using fleet = new Fleet(deployment.bus, short.beatMs / 2);
    const living = await registerMany(100, "living");
    for (const identity of living) fleet.add(identity);
    await using removals = await new LeaseRemovals(deployment, namespace).synced();
    const first = await collector();
    const dead = await registerMany(1_500, "dead");
    await waitFor(() => removals.counts.size > 0, { timeoutMs: 60_000, intervalMs: 1 });
    await deployment.kill(first);
    await waitFor(() => removals.counts.size === dead.length, { timeoutMs: 90_000 });
    const second = await collector();
    expect(second).not.toBe(first);
    expect([...removals.counts.values()].every((count) => count === 1)).toBe(true);
    expect(living.some(({ id }) => removals.counts.has(id))).toBe(false);
    expect(fleet.refused.size).toBe(0);
  });

  it("collects candidates that expired", { timeout: 120_000 }, async () => {
    deployment = await startIdentityDeployment();
    const candidates = createClient(deployment.bus, CandidateServiceDefinition);
    const candidate = { lease: { namespace: "tests", name: "contested" }, name: "late" };
    await candidates.register(
      CandidateServiceRegisterRequest.fromPartial({
        candidate,
        spec: {
          binaryVersion: "1.0.0",
          compatibilityVersion: "1.0.0",
          strategy,
          validity: durationFromMs(10_000),
        },
      }),
      call,
    );
    await collector();
    const get = () => candidates.get(CandidateServiceGetRequest.fromPartial({ candidate, read: linearizable }), call);
    await get();
    await expect(
      waitFor(
        () =>
          get().then(
            () => false,
            (fault: { reason: string }) => fault.reason,
          ),
        { timeoutMs: 60_000 },
      ),
    ).resolves.toBe("CANDIDATE_NOT_FOUND");
  });
});

describe("dependents", () => {
  const held = { namespace: "tests", name: "held" };
  const merely = { namespace: "tests", name: "merely-held" };
  const others = { namespace: "tests", name: "others" };
  const standing = { lease: { namespace: "tests", name: "contested" }, name: "c1" };
  const dependents: readonly Dependent[] = [
    { subject: { $case: "lease", value: held } },
    { subject: { $case: "lease", value: others } },
    { subject: { $case: "candidate", value: standing } },
  ];
  const acquire = (lease: { namespace: string; name: string }, holder: string, identity: string) =>
    deployment.leases.acquire(
      LeaseServiceAcquireRequest.fromPartial({ claims: [{ lease }], claimant: { holder, identity } }),
      call,
    );

  /** An instance with all that can depend on it; one of the leases that it names has gone to another since. */
  async function settle() {
    const candidates = createClient(deployment.bus, CandidateServiceDefinition);
    const identity = await register(deployment, { component: "owner", dependents });
    await acquire(held, "owner", identity.id);
    await acquire(merely, "owner", identity.id);
    await acquire(others, "someone else", "");
    const spec = { binaryVersion: "1.0.0", compatibilityVersion: "1.0.0", strategy, identity: identity.id };
    await candidates.register(CandidateServiceRegisterRequest.fromPartial({ candidate: standing, spec }), call);
    return { candidates, identity };
  }

  async function expectGone(candidates: Awaited<ReturnType<typeof settle>>["candidates"], id: string): Promise<void> {
    const gone = async () => {
      const record = await leaseOf({ namespace, name: id }).catch(() => undefined);
      return record === undefined;
    };
    await waitFor(gone, { timeoutMs: 60_000, describe: "the record of the identity to go" });
    const request = CandidateServiceGetRequest.fromPartial({ candidate: standing, read: linearizable });
    await expect(candidates.get(request, call)).rejects.toMatchObject({ reason: "CANDIDATE_NOT_FOUND" });
    // Rule 15: a running term is not freed, but it cannot be renewed and runs out.
    const named = await leaseOf(held).catch(() => undefined);
    expect(named?.tombstone?.reason ?? TermEndReason.COLLECTED).toBe(TermEndReason.COLLECTED);
    expect((await leaseOf(merely))?.tombstone?.reason ?? TermEndReason.REVOKED).toBe(TermEndReason.REVOKED);
    expect((await leaseOf(others))?.holds).toMatchObject([{ holder: "someone else" }]);
  }

  it("go after their identity has left", { timeout: 120_000 }, async () => {
    deployment = await startIdentityDeployment();
    const { candidates, identity } = await settle();
    const { id, token } = identity;
    await deployment.identities.deregister(IdentityServiceDeregisterRequest.fromPartial({ id, token }), call);
    await expectGone(candidates, id);
  });

  it("go after their identity was collected", { timeout: 120_000 }, async () => {
    deployment = await startIdentityDeployment();
    await using watcher = await new Watcher(deployment).synced();
    const { candidates, identity } = await settle();
    await watcher.told(identity.id, "COLLECTED", 60_000);
    await expectGone(candidates, identity.id);
    expect(watcher.of(identity.id).filter((change) => change === "COLLECTED")).toHaveLength(1);
  });

  it("go when the collector died between the departure and their removal", { timeout: 120_000 }, async () => {
    deployment = await startIdentityDeployment();
    const { candidates, identity } = await settle();
    await deployment.kill("identity-1");
    const lease = { namespace, name: identity.id };
    // What a collector leaves in the log when it dies at the worst moment: an ended term and its word, nothing else.
    const ended = await waitFor(async () => ((await leaseOf(lease))?.holds.length === 0 ? leaseOf(lease) : undefined), {
      timeoutMs: 60_000,
    });
    const annotations = { ...ended?.spec?.annotations, [identityAnnotations.departed]: "collected" };
    await deployment.leases.update(
      LeaseServiceUpdateRequest.fromPartial({
        lease,
        expectedRevision: ended?.revision ?? 0n,
        spec: { annotations },
        updateMask: ["annotations"],
      }),
      call,
    );
    await deployment.start("identity", "identity-2");
    await expectGone(candidates, identity.id);
  });

  it("go when the replica died after the instance's own release", { timeout: 120_000 }, async () => {
    deployment = await startIdentityDeployment();
    const { candidates, identity } = await settle();
    await deployment.kill("identity-1");
    const items = [{ lease: { namespace, name: identity.id }, token: identity.token }];
    await deployment.leases.release(
      { items, renewKey: new Uint8Array(0), endReason: 0, attempt: undefined, note: undefined },
      call,
    );
    await deployment.start("identity", "identity-2");
    await expectGone(candidates, identity.id);
  });
});
