import { createHash } from "node:crypto";
import {
  durationFromMs,
  durationToMs,
  IdentityLiveness,
  IdentityNaming,
  IdentityServiceDeregisterRequest,
  IdentityServiceGetRequest,
  IdentityServiceListRequest,
  LabelOperator,
  LeaseServiceGetRequest,
  LeaseServiceListRequest,
  ReadConsistency,
} from "@tenure/contracts";
import { identityLabels } from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import { type Deployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { short, startIdentityDeployment } from "./deployment.ts";
import { Fleet, register } from "./fleet.ts";
import { Watcher } from "./watcher.ts";

const linearizable = { consistency: ReadConsistency.LINEARIZABLE };
const call = { principal: "test", deadlineMs: 20_000 };
let deployment: Deployment;
let fleet: Fleet;

beforeAll(async () => {
  deployment = await startIdentityDeployment({ identity: 2 });
  fleet = new Fleet(deployment.bus, short.beatMs / 2);
}, 120_000);

afterAll(async () => {
  fleet?.[Symbol.dispose]();
  await deployment?.[Symbol.asyncDispose]();
});

const leaseOf = async (id: string) => {
  const lease = { namespace: "tenure-identities", name: id };
  const request = LeaseServiceGetRequest.fromPartial({ lease, read: linearizable });
  return (await deployment.leases.get(request, call)).lease;
};
const get = (id: string) =>
  deployment.identities.get(IdentityServiceGetRequest.fromPartial({ id, read: linearizable }), call);
const list = async (selector: Parameters<typeof IdentityServiceListRequest.fromPartial>[0]["selector"]) => {
  const request = IdentityServiceListRequest.fromPartial({ ...(selector && { selector }), read: linearizable });
  return (await deployment.identities.list(request, call)).identities.map(({ id }) => id);
};
const deregister = (id: string, token: bigint) =>
  deployment.identities.deregister(IdentityServiceDeregisterRequest.fromPartial({ id, token }), call);

describe("an instance", () => {
  it("[93] [94] registers under a fresh id, as a lease of its own namespace that says who it is", async () => {
    const identity = await register(deployment, {
      component: "scheduler",
      version: "1.2.3",
      host: "node-1",
      processId: 4711,
      validity: durationFromMs(3_600_000),
      beatInterval: durationFromMs(10_000),
      labels: { tier: "gold" },
    });
    expect(identity.id).toMatch(/^node-1-4711-[1-9a-z]{6}$/);
    expect(identity).toMatchObject({ liveness: IdentityLiveness.LIVE, principal: "test" });
    const lease = await leaseOf(identity.id);
    expect(lease?.spec?.labels).toEqual({
      [identityLabels.component]: "scheduler",
      [identityLabels.host]: "node-1",
      tier: "gold",
    });
    expect(durationToMs(lease?.holds[0]?.leaseDuration ?? durationFromMs(0))).toBe(3_600_000);
    expect(lease?.holds[0]).toMatchObject({ holder: identity.id, token: identity.token, holdId: identity.holdId });
    const again = await register(deployment, { ...identity.profile }, { id: identity.id });
    expect(again.token).toBe(identity.token);
    expect((await deregister(identity.id, identity.token)).removed).toBe(true);
  });

  it("[93] [95] keeps its stable id through a restart, with a new holder and no second lease", async () => {
    const profile = { component: "kube-apiserver", host: "node-1", naming: IdentityNaming.STABLE };
    const first = await register(deployment, { ...profile, version: "1.0.0" }, { instanceUid: "uid-1" });
    expect(first.id).toBe("apiserver-lgabes5ywnaqeagh5dny4zlzs4");
    const second = await register(deployment, { ...profile, version: "1.1.0" }, { instanceUid: "uid-2" });
    expect(second.id).toBe(first.id);
    expect(second.token).toBeGreaterThan(first.token);
    expect(second).toMatchObject({ instanceUid: "uid-2", profile: { version: "1.1.0" }, collision: undefined });
    expect((await leaseOf(first.id))?.holds).toMatchObject([{ holder: `${first.id}_uid-2` }]);
    const selector = { namespace: "tenure-identities", namePrefix: "apiserver-" };
    const listed = await deployment.leases.list(LeaseServiceListRequest.fromPartial({ selector }), call);
    expect(listed.leases).toHaveLength(1);
    expect((await deregister(first.id, first.token)).removed).toBe(false);
    expect((await deregister(first.id, second.token)).removed).toBe(true);
  });

  it("[96] is gone at once after a clean stop, and its lease with it", async () => {
    await using watcher = await new Watcher(deployment).synced();
    const { id, token } = await register(deployment, {});
    expect((await deregister(id, token)).removed).toBe(true);
    await expect(leaseOf(id)).rejects.toMatchObject({ reason: "LEASE_NOT_FOUND" });
    await expect(get(id)).rejects.toMatchObject({ reason: "IDENTITY_NOT_FOUND" });
    expect((await deregister(id, token)).removed).toBe(false);
    await watcher.told(id, "LEFT");
    expect(watcher.of(id)).toEqual(["JOINED", "LEFT"]);
  });

  it("[100] registers with a host name that cannot be a label", async () => {
    const host = "Host name with spaces ü";
    const { id, profile, token } = await register(deployment, { host });
    expect(profile?.host).toBe(host);
    expect((await leaseOf(id))?.spec?.labels).toEqual({ [identityLabels.component]: "worker" });
    expect((await deregister(id, token)).removed).toBe(true);
  });

  it("[96] [97] is seen silent after three missed beats, and collected after validity and grace", async () => {
    await using watcher = await new Watcher(deployment).synced();
    const { id } = await register(deployment, {});
    await watcher.told(id, "SILENT");
    expect((await get(id)).identity?.liveness).toBe(IdentityLiveness.SILENT);
    expect(await leaseOf(id)).toBeDefined();
    await watcher.told(id, "COLLECTED", 60_000);
    expect(watcher.of(id)).toEqual(["JOINED", "SILENT", "COLLECTED"]);
    await expect(leaseOf(id)).rejects.toMatchObject({ reason: "LEASE_NOT_FOUND" });
  });

  it("is live again when it beats after a silence", async () => {
    await using watcher = await new Watcher(deployment).synced();
    const identity = await register(deployment, { validity: durationFromMs(60_000) });
    await watcher.told(identity.id, "SILENT");
    fleet.add(identity);
    await watcher.told(identity.id, "LIVE");
    fleet.silence(identity.id);
    await deregister(identity.id, identity.token);
  });

  it("[98] is spared while it beats, and so is what is no identity", async () => {
    await using watcher = await new Watcher(deployment).synced();
    const living = await register(deployment, {});
    fleet.add(living);
    const dead = await register(deployment, {});
    const bystander = { lease: { namespace: "tenure-identities", name: "bystander" } };
    await deployment.leases.create(
      {
        ...bystander,
        attempt: undefined,
        spec: undefined,
        dryRun: false,
        note: undefined,
        writtenHold: undefined,
      } as never,
      call,
    );
    await watcher.told(dead.id, "COLLECTED", 60_000);
    expect(watcher.of(living.id)).toEqual(["JOINED"]);
    expect((await get(living.id)).identity).toMatchObject({ token: living.token, liveness: IdentityLiveness.LIVE });
    expect(await leaseOf("bystander")).toBeDefined();
    fleet.silence(living.id);
    await deregister(living.id, living.token);
  });

  it("[102] learns of another process that claims its stable id, and so does the other", async () => {
    await using watcher = await new Watcher(deployment).synced();
    const profile = { component: "twin", host: "twins", naming: IdentityNaming.STABLE };
    const claim = (instanceUid: string, processId: number) =>
      register(deployment, { ...profile, processId }, { instanceUid });
    const first = await claim("uid-1", 11);
    await claim("uid-2", 12);
    const back = await claim("uid-1", 11);
    expect(back.collision).toMatchObject({ otherHost: "twins", otherProcessId: 12, changes: 1 });
    const again = await claim("uid-2", 12);
    expect(again.collision).toMatchObject({ otherHost: "twins", otherProcessId: 11, changes: 2 });
    expect((await get(first.id)).identity?.collision).toMatchObject({ changes: 2 });
    await watcher.told(first.id, "CHANGED");
    await deregister(first.id, again.token);
  });

  it("has its stable id from the moment it claims it, whichever replica it asks and whatever that one has read", async () => {
    const profile = { component: "ping-pong", host: "table", processId: 1, naming: IdentityNaming.STABLE };
    let last = 0n;
    for (let claims = 0; claims < 40; claims += 1) {
      const { id, token } = await register(deployment, profile, { instanceUid: `uid-${claims % 2}` });
      expect(token).toBeGreaterThan(last);
      last = token;
      if (claims === 39) await deregister(id, token);
    }
  });

  it("that registers again with the key that it has keeps its term, and another key begins a new one", async () => {
    const keyed = (renewKey: string, id = "") =>
      register(deployment, {}, { id, renewKeyHash: createHash("sha256").update(renewKey).digest() });
    const first = await keyed("one");
    expect((await keyed("one", first.id)).token).toBe(first.token);
    const { id, token } = await keyed("two", first.id);
    expect(token).toBeGreaterThan(first.token);
    const request = IdentityServiceDeregisterRequest.fromPartial({ id, token, renewKey: Buffer.from("two") });
    expect((await deployment.identities.deregister(request, call)).removed).toBe(true);
  });

  it("is refused with every broken rule", async () => {
    const refused = register(deployment, { component: "No", version: "v1", beatInterval: durationFromMs(1) });
    await expect(refused).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const fields = await refused.catch((fault: Fault) => fault.details.violations?.map(({ field }) => field));
    expect(fields).toEqual(["profile.component", "profile.version", "profile.beat_interval"]);
    await expect(register(deployment, {}, { id: "not-fresh" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const large = { dependents: Array.from({ length: 250 }, () => dependentLease("n".repeat(40), "l".repeat(40))) };
    await expect(register(deployment, large)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("may not take a fresh id that another process has", async () => {
    const mine = await register(deployment, {}, { instanceUid: "a" });
    const other = register(deployment, {}, { id: mine.id, instanceUid: "b" });
    await expect(other).rejects.toMatchObject({ reason: "IDENTITY_COLLISION", code: "FAILED_PRECONDITION" });
    await deregister(mine.id, mine.token);
  });
});

describe("lists and watches", () => {
  it("select by component, labels, zone, capabilities and liveness, in order and in pages", async () => {
    const profiles = [
      { zone: "a", labels: { tier: "gold" }, capabilities: ["x", "y"] },
      { zone: "b", labels: { tier: "gold" }, capabilities: ["x"] },
      { zone: "a", labels: {}, capabilities: [] },
    ];
    const validity = durationFromMs(60_000);
    const made = await Promise.all(
      profiles.map((profile, place) =>
        register(deployment, { component: "listed", host: `l${place}`, validity, ...profile }),
      ),
    );
    const [first, second, third] = made.map(({ id }) => id);
    expect(await list({ component: "listed" })).toEqual([first, second, third]);
    expect(await list({ component: "listed", zone: "a" })).toEqual([first, third]);
    expect(await list({ component: "listed", capabilities: ["x", "y"] })).toEqual([first]);
    const requirements = [{ key: "tier", operator: LabelOperator.IN, values: ["gold"] }];
    expect(await list({ component: "listed", labels: { requirements } })).toEqual([first, second]);
    expect(await list({ component: "listed", liveness: [IdentityLiveness.SILENT] })).toEqual([]);
    await waitFor(async () => (await list({ component: "listed", liveness: [IdentityLiveness.SILENT] })).length === 3);
    const selector = { component: "listed" };
    const request = { selector, page: { size: 2 }, read: linearizable };
    const page = await deployment.identities.list(IdentityServiceListRequest.fromPartial(request), call);
    expect(page.identities.map(({ id }) => id)).toEqual([first, second]);
    const late = await register(deployment, { component: "listed", host: "l9" });
    const next = { selector, page: { size: 2, token: page.page?.nextToken ?? "" } };
    const rest = await deployment.identities.list(IdentityServiceListRequest.fromPartial(next), call);
    expect(rest.identities.map(({ id }) => id)).toEqual([third]);
    expect(rest.page).toMatchObject({ nextToken: "", revision: page.page?.revision });
    await using watcher = await new Watcher(deployment, { selector: { component: "listed", zone: "a" } }).synced();
    expect(watcher.events.map(({ identity }) => identity?.id)).toEqual([first, third]);
    for (const { id, token } of [...made, late]) await deregister(id, token);
    await watcher.told(third ?? "", "LEFT");
    expect(watcher.of(second ?? "")).toEqual([]);
  });
});

function dependentLease(namespace: string, name: string) {
  return { subject: { $case: "lease" as const, value: { namespace, name } } };
}
