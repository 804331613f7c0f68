import { fileURLToPath } from "node:url";
import { IdentityLiveness, IdentityServiceListRequest, LeaseServiceRevokeRequest } from "@tenure/contracts";
import { systemClock } from "@tenure/kernel";
import { connect, type InstanceChange, type Tenure } from "@tenure/sdk";
import { type Deployment, type ManagedProcess, startProcess, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { short, startIdentityDeployment } from "./deployment.ts";
import { Watcher } from "./watcher.ts";

const program = fileURLToPath(new URL("../programs/instance.mjs", import.meta.url));
const call = { principal: "test", deadlineMs: 20_000 };
let deployment: Deployment;

beforeAll(async () => {
  deployment = await startIdentityDeployment({ identity: 1, gateway: 1 });
}, 120_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 120_000);

const ways = ["grpc", "nats"] as const;
type Way = (typeof ways)[number];
const whereOf = (way: Way) => (way === "nats" ? deployment.nats.url : deployment.grpc("gateway-1"));

/** Starts a process that registers, and waits until it has; gives its id. */
async function startInstance(way: Way, component: string, naming = "fresh"): Promise<[ManagedProcess, string]> {
  const args = [program, way, whereOf(way), component, naming];
  const instance = startProcess(process.execPath, { name: component, args });
  const line = await instance.waitForLine(/^registered /, { timeoutMs: 60_000 });
  return [instance, String(line).split(" ")[1] ?? ""];
}

const client = (way: Way): Promise<Tenure> =>
  connect({
    ...(way === "nats" ? { nats: { servers: [whereOf(way)] } } : { endpoint: whereOf(way) }),
    namespace: "tests",
  });

describe.each(ways)("a process with the SDK, over %s", (way) => {
  it("registers, is listed, falls silent when killed, and is collected", { timeout: 120_000 }, async () => {
    await using watcher = await new Watcher(deployment).synced();
    const component = `killed-${way}`;
    const [instance, id] = await startInstance(way, component);
    await using tenure = await client(way);
    expect(
      (await tenure.instances({ component }).list()).map(({ id: listed, liveness }) => [listed, liveness]),
    ).toEqual([[id, "live"]]);
    await instance.kill9();
    await watcher.told(id, "SILENT");
    await watcher.told(id, "COLLECTED", 60_000);
    expect(watcher.of(id)).toEqual(["JOINED", "SILENT", "COLLECTED"]);
    expect(await tenure.instances({ component }).list()).toEqual([]);
  });

  it("[96] leaves at once at a clean stop", { timeout: 120_000 }, async () => {
    const component = `stopped-${way}`;
    const [instance, id] = await startInstance(way, component);
    const changes: InstanceChange[] = [];
    await using tenure = await client(way);
    const stop = new AbortController();
    const watching = (async () => {
      for await (const change of tenure.instances({ component }).watch({ signal: stop.signal })) changes.push(change);
    })();
    await waitFor(() => changes.length > 0, { timeoutMs: 20_000 });
    await instance.stop();
    await waitFor(() => changes.length > 1, { timeoutMs: 20_000 });
    stop.abort();
    await watching;
    expect(changes.map(({ change, instance: { id: told } }) => [told, change])).toEqual([
      [id, "present"],
      [id, "left"],
    ]);
  });

  it("registers again when its record was taken away", { timeout: 120_000 }, async () => {
    await using tenure = await client(way);
    await using own = await connect({
      ...(way === "nats" ? { nats: { servers: [whereOf(way)] } } : { endpoint: whereOf(way) }),
      namespace: "tests",
      register: { component: `robbed-${way}` },
    });
    const first = await own.identity?.registered();
    const lease = `tenure-identities/${first?.id}`;
    await using lock = await own.lock("held-by-robbed");
    expect((await tenure.leases.get("tests/held-by-robbed"))?.holds[0]?.identity).toBe(first?.id);
    const record = await tenure.leases.get(lease);
    await tenure.session.change("LeaseService.Revoke", (attempt) =>
      LeaseServiceRevokeRequest.fromPartial({
        attempt,
        lease: { namespace: "tenure-identities", name: first?.id ?? "" },
        expectedRevision: record?.revision ?? 0n,
        note: { reason: "a test" },
      }),
    );
    const isAgain = () => (own.identity?.record?.token ?? 0n) > (first?.token ?? 0n);
    await waitFor(isAgain, { timeoutMs: 60_000, describe: "a second registration" });
    expect(own.identity?.record?.id).toBe(first?.id);
    lock.check();
  });

  it("[102] is told of another process with its stable id, as is the other", { timeout: 120_000 }, async () => {
    const component = `twin-${way}`;
    const [one, id] = await startInstance(way, component, "stable");
    const [two, same] = await startInstance(way, component, "stable");
    expect(same).toBe(id);
    await one.waitForLine(new RegExp(`^collision ${id} ${two.pid}$`), { timeoutMs: 60_000 });
    await two.waitForLine(new RegExp(`^collision ${id} ${one.pid}$`), { timeoutMs: 60_000 });
    await one.kill9();
    await two.stop();
  });
});

/** Longer than an identity is valid here; 30 s where there is time. */
const outageMs = process.env.TENURE_LONG === undefined ? short.validityMs + 2_000 : 30_000;

describe("an identity that beats", () => {
  it(`is never collected through ${outageMs / 1_000} s without NATS, and without the services`, {
    timeout: 300_000,
  }, async () => {
    const component = "steady";
    const instances = await Promise.all(ways.map((way) => startInstance(way, component)));
    const ids = instances.map(([, id]) => id).sort();
    const tokens = await listed(component);
    expect([...tokens.keys()].sort()).toEqual(ids);
    await deployment.nats.kill9();
    await systemClock.sleep(outageMs);
    await deployment.nats.restart();
    await waitFor(async () => (await live(component)) === ids.length, { timeoutMs: 60_000 });
    for (const service of ["identity-1", "store-1"]) await deployment.kill(service);
    await systemClock.sleep(outageMs);
    await deployment.start("lease-store", "store-2");
    await deployment.start("identity", "identity-2");
    await deployment.ready();
    await waitFor(async () => (await live(component)) === ids.length, { timeoutMs: 60_000 });
    // Long enough for whoever would be collected wrongly to be collected.
    await systemClock.sleep(short.validityMs + short.graceMs + short.settleMs);
    expect(await live(component)).toBe(ids.length);
    expect([...(await listed(component)).keys()].sort()).toEqual(ids);
    // The very same terms: nobody was expired, let alone collected.
    expect(await listed(component)).toEqual(tokens);
    for (const [instance] of instances) {
      expect(instance.output.all.filter((line) => line.startsWith("registered"))).toHaveLength(1);
      await instance.stop();
    }
  });
});

async function listed(component: string): Promise<ReadonlyMap<string, bigint>> {
  const request = IdentityServiceListRequest.fromPartial({ selector: { component } });
  const { identities } = await deployment.identities.list(request, call);
  return new Map(identities.map(({ id, token }) => [id, token]));
}

async function live(component: string): Promise<number> {
  const request = IdentityServiceListRequest.fromPartial({
    selector: { component, liveness: [IdentityLiveness.LIVE] },
  });
  return (await deployment.identities.list(request, call).catch(() => ({ identities: [] }))).identities.length;
}
