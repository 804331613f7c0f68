import { CollectionOutcome, HoldBackReason, IdentityServiceCollectRequest } from "@tenure/contracts";
import { type Deployment, waitFor } from "@tenure/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { argsWith, short, shortArgs, startIdentityDeployment } from "./deployment.ts";
import { Fleet, register } from "./fleet.ts";
import { LeaseRemovals } from "./lease-removals.ts";

const call = { principal: "test", deadlineMs: 20_000 };
const namespace = "tenure-identities";
let deployment: Deployment;

afterEach(async () => {
  await deployment?.[Symbol.asyncDispose]();
});

const collect = (request: Parameters<typeof IdentityServiceCollectRequest.fromPartial>[0]) =>
  deployment.identities.collect(IdentityServiceCollectRequest.fromPartial(request), call);
const stateOf = async () => (await collect({ stateOnly: true })).state;
const collector = () =>
  waitFor(async () => (await stateOf().catch(() => undefined))?.collector || undefined, { timeoutMs: 30_000 });
/** Registers instances; in a fleet each beats as soon as it is registered. */
const registerMany = (count: number, component: string, fleet?: Fleet) =>
  Promise.all(
    Array.from({ length: count }, async (_, place) => {
      const identity = await register(deployment, { component, host: `h${place}` });
      fleet?.add(identity);
      return identity;
    }),
  );

describe("collection", () => {
  it("holds back when half of the fleet vanishes, says so, and goes on at an operator's word", {
    timeout: 240_000,
  }, async () => {
    // Those who fall silent together expire apart: a beat's interval, and on a busy machine the time it took to register
    // them. The grace must be longer, or the first are rightly collected before too many are dead.
    deployment = await startIdentityDeployment({ identity: 2 }, argsWith({ graceMs: short.validityMs }));
    using fleet = new Fleet(deployment.bus, short.beatMs / 2);
    const fleetOf = await registerMany(1_000, "fleet", fleet);
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
    // A replica reads the log in turns: it says all this a moment after the last removal was seen here, and
    // counts each when the store has answered.
    const settled = await waitFor(
      async () => {
        const state = await stateOf();
        const isOver = state?.holdBack === HoldBackReason.UNSPECIFIED && state.dead === 0;
        return isOver && state.collected >= 500n ? state : undefined;
      },
      { timeoutMs: 60_000 },
    );
    expect(settled).toMatchObject({ total: 500, collected: 500n });
    expect(fleet.refused.size).toBe(0);
  });

  it("[99] is taken over when the collector dies in the middle: everyone once, nobody early", {
    timeout: 240_000,
  }, async () => {
    deployment = await startIdentityDeployment({ identity: 2 }, [...shortArgs, "--hold-back-percent=100"]);
    using fleet = new Fleet(deployment.bus, short.beatMs / 2);
    const living = await registerMany(100, "living", fleet);
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
});
