import {
  CandidateServiceGetRequest,
  CandidateServiceRegisterRequest,
  durationFromMs,
  IdentityServiceDeregisterRequest,
  LeaseServiceAcquireRequest,
  LeaseServiceGetRequest,
  LeaseServiceUpdateRequest,
  ReadConsistency,
  StrategyKind,
  TermEndReason,
} from "@tenure/contracts";
import { identityAnnotations } from "@tenure/core";
import { type Deployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startIdentityDeployment } from "./deployment.ts";
import { register } from "./fleet.ts";
import { Watcher } from "./watcher.ts";

const call = { principal: "test", deadlineMs: 20_000 };
const linearizable = { consistency: ReadConsistency.LINEARIZABLE };
const namespace = "tenure-identities";
const strategy = { kind: StrategyKind.OLDEST_COMPATIBILITY_VERSION };
let deployment: Deployment;

beforeAll(async () => {
  deployment = await startIdentityDeployment();
}, 120_000);

afterAll(() => deployment?.[Symbol.asyncDispose]());

const leaseOf = async (lease: { namespace: string; name: string }) =>
  (await deployment.leases.get(LeaseServiceGetRequest.fromPartial({ lease, read: linearizable }), call)).lease;

const acquire = (lease: { namespace: string; name: string }, holder: string, identity: string) =>
  deployment.leases.acquire(
    LeaseServiceAcquireRequest.fromPartial({ claims: [{ lease }], claimant: { holder, identity } }),
    call,
  );
const spec = { binaryVersion: "1.0.0", compatibilityVersion: "1.0.0", strategy };
const reasonOfNone = (candidate: { lease: { namespace: string; name: string }; name: string }) =>
  deployment.candidates.get(CandidateServiceGetRequest.fromPartial({ candidate, read: linearizable }), call).then(
    () => undefined,
    ({ reason }: { reason: string }) => reason,
  );

/** An instance with all that can depend on it; one of the leases that it names has gone to another since. */
async function settle(component: string) {
  const named = (name: string) => ({ namespace: "tests", name: `${component}-${name}` });
  const [held, merely, others] = [named("held"), named("merely-held"), named("others")];
  const candidate = { lease: named("contested"), name: "c1" };
  const identity = await register(deployment, {
    component,
    dependents: [
      { subject: { $case: "lease", value: held } },
      { subject: { $case: "lease", value: others } },
      { subject: { $case: "candidate", value: candidate } },
    ],
  });
  const { id } = identity;
  await acquire(held, "owner", id);
  await acquire(merely, "owner", id);
  await acquire(others, "someone else", "");
  const standing = { candidate, spec: { ...spec, identity: id } };
  await deployment.candidates.register(CandidateServiceRegisterRequest.fromPartial(standing), call);
  const lease = { namespace, name: id };
  return {
    ...identity,
    lease,
    async gone(): Promise<void> {
      const isGone = async () => (await leaseOf(lease).catch(() => undefined)) === undefined;
      await waitFor(isGone, { timeoutMs: 60_000, describe: "the record of the identity to go" });
      expect(await reasonOfNone(candidate)).toBe("CANDIDATE_NOT_FOUND");
      // Rule 15: a running term is not freed, but it cannot be renewed and runs out.
      const tombstone = (await leaseOf(held).catch(() => undefined))?.tombstone;
      expect(tombstone?.reason ?? TermEndReason.COLLECTED).toBe(TermEndReason.COLLECTED);
      expect((await leaseOf(merely))?.tombstone?.reason ?? TermEndReason.REVOKED).toBe(TermEndReason.REVOKED);
      expect((await leaseOf(others))?.holds).toMatchObject([{ holder: "someone else" }]);
    },
  };
}

describe("what depends on an identity", () => {
  it("goes after it has left", { timeout: 120_000 }, async () => {
    const { gone, id, token } = await settle("leaving");
    await deployment.identities.deregister(IdentityServiceDeregisterRequest.fromPartial({ id, token }), call);
    await gone();
  });

  it("goes after it was collected", { timeout: 120_000 }, async () => {
    await using watcher = await new Watcher(deployment).synced();
    const { gone, id } = await settle("collected");
    await watcher.told(id, "COLLECTED", 60_000);
    await gone();
    expect(watcher.of(id).filter((change) => change === "COLLECTED")).toHaveLength(1);
  });

  it("goes when the collector died between the departure and their removal", { timeout: 120_000 }, async () => {
    const { gone, lease } = await settle("marked");
    await deployment.kill("identity-1");
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
    await gone();
  });

  it("goes when the replica died after the instance's own release", { timeout: 120_000 }, async () => {
    const { gone, lease, token } = await settle("released");
    await deployment.kill("identity-2");
    await deployment.leases.release(
      { items: [{ lease, token }], renewKey: new Uint8Array(0), endReason: 0, attempt: undefined, note: undefined },
      call,
    );
    await deployment.start("identity", "identity-3");
    await gone();
  });
});

describe("a candidate", () => {
  it("is collected when it has expired", { timeout: 120_000 }, async () => {
    const candidate = { lease: { namespace: "tests", name: "expiring" }, name: "late" };
    const request = { candidate, spec: { ...spec, validity: durationFromMs(10_000) } };
    await deployment.candidates.register(CandidateServiceRegisterRequest.fromPartial(request), call);
    expect(await reasonOfNone(candidate)).toBeUndefined();
    expect(await waitFor(() => reasonOfNone(candidate), { timeoutMs: 60_000 })).toBe("CANDIDATE_NOT_FOUND");
  });
});
