import { type Bus, connectBus, inboxPrefixOf, partitionRoute, serve } from "@tenure/bus";
import { durationToMs, LeaseServiceAcquireRequest, LeaseServiceDefinition } from "@tenure/contracts";
import { leaseKey, partitionOf } from "@tenure/core";
import { FakeClock, systemClock, systemRandom } from "@tenure/kernel";
import { OwnerRoutes, StoreCalls } from "@tenure/session";
import { type NatsServer, startNats, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let nats: NatsServer;
let bus: Bus;

beforeAll(async () => {
  nats = await startNats();
  bus = await connectBus({
    servers: [nats.url],
    name: "store calls",
    inboxPrefix: inboxPrefixOf("store-calls"),
    clock: systemClock,
    random: systemRandom,
    connectTimeoutMs: 20_000,
  });
}, 60_000);

afterAll(async () => {
  await bus?.[Symbol.asyncDispose]();
  await nats?.stop();
}, 60_000);

const partitions = 8;
const lease = { namespace: "n", name: "x" };
const partition = partitionOf(leaseKey(lease.namespace, lease.name), partitions);
const claim = (wait?: object) =>
  LeaseServiceAcquireRequest.encode(
    LeaseServiceAcquireRequest.fromPartial({
      attempt: { clientId: "c", number: 1n },
      claims: [{ lease }],
      ...(wait && { wait }),
    }),
  ).finish();
const options = { principal: "ann", deadlineMs: 20_000 };

describe("a wait that was sent before any owner was heard of", () => {
  it("goes to its owner, with its age, once there is one", async () => {
    const clock = new FakeClock();
    const routes = new OwnerRoutes();
    using calls = new StoreCalls({ bus, routes, clock, random: systemRandom });
    const anywhere: LeaseServiceAcquireRequest[] = [];
    const atOwner: LeaseServiceAcquireRequest[] = [];
    await using _replica = serve(
      bus,
      LeaseServiceDefinition,
      {
        // It never answers, as one that has lost the wait.
        acquire: (request, { signal }) => {
          anywhere.push(request);
          return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        },
      },
      {},
    );
    await using _owner = serve(
      bus,
      LeaseServiceDefinition,
      {
        acquire: async (request) => {
          atOwner.push(request);
          return { grants: [] };
        },
      },
      { route: partitionRoute(partition, 7n) },
    );
    await bus.nats.flush();
    const outcomes: unknown[] = [];
    const call = calls.start("LeaseService.Acquire", claim({}), options, (outcome) => outcomes.push(outcome));
    await waitFor(() => anywhere.length === 1, { describe: "the first sending" });
    expect(call.partition).toBeUndefined();
    await clock.advance(3_000);
    routes.setPartitions(partitions);
    routes.note(partition, 7n);
    await routes.whenKnown();
    await clock.advance(100);
    await waitFor(() => outcomes.length === 1, { describe: "the owner's answer" });
    expect(call.partition).toBe(partition);
    expect(atOwner[0]?.attempt).toEqual(anywhere[0]?.attempt);
    expect(durationToMs(atOwner[0]?.wait?.age ?? { seconds: 0n, nanos: 0 })).toBe(3_100);
  });
});

describe("StoreCalls", () => {
  it("leaves no timer behind", () => {
    const clock = new FakeClock();
    const routes = new OwnerRoutes(partitions);
    const calls = new StoreCalls({ bus, routes, clock, random: systemRandom });
    routes.note(partition, 7n);
    routes.note(partition, 8n);
    expect(clock.pendingTimers).toBe(1);
    calls[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });
});
