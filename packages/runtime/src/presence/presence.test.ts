import type { BusStatus } from "@tenure/bus";
import { ServiceState, ServiceStatus } from "@tenure/contracts";
import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { Health } from "../health.ts";
import { Presence, watchPresence } from "./index.ts";

/** A wire between an announcer and a watcher in one process, which a test cuts at either end. */
class Wire {
  readonly sent: ServiceStatus[] = [];
  readonly #listeners = new Set<(payload: Uint8Array, subject: string) => void>();
  readonly #statusListeners = new Set<(status: BusStatus) => void>();
  connected = true;

  publish(subject: string, payload: Uint8Array): void {
    this.sent.push(ServiceStatus.decode(payload));
    for (const listener of this.#listeners) listener(payload, subject);
  }

  subscribe(_: string, listener: (payload: Uint8Array, subject: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    this.#statusListeners.add(listener);
    return () => void this.#statusListeners.delete(listener);
  }

  change(status: BusStatus): void {
    this.connected = status === "connected";
    for (const listener of this.#statusListeners) listener(status);
  }
}

function setUp() {
  const clock = new FakeClock({ wallMs: 1_700_000_000_500 });
  const wire = new Wire();
  const health = new Health();
  const presence = new Presence({
    bus: wire,
    clock,
    health,
    service: "election",
    instance: "host-1-abcdef",
    version: "1.2.3",
    startedAtMs: clock.wall(),
    httpAddress: "http://127.0.0.1:1",
  });
  return { clock, wire, health, presence };
}

describe("Presence", () => {
  it("announces itself at once, each second, and at each change", async () => {
    const { clock, wire, health, presence } = setUp();
    expect(wire.sent).toHaveLength(1);
    expect(wire.sent[0]).toMatchObject({
      service: "election",
      instance: "host-1-abcdef",
      version: "1.2.3",
      startedAt: { seconds: 1_700_000_000n, nanos: 500_000_000 },
      state: ServiceState.STARTING,
      ready: false,
      httpAddress: "http://127.0.0.1:1",
      sequence: 1n,
    });
    await clock.advance(3000);
    expect(wire.sent).toHaveLength(4);
    health.set("nats", true);
    presence.serving();
    expect(wire.sent.at(-1)).toMatchObject({ state: ServiceState.SERVING, ready: true, sequence: 6n });
    health.set("log", false, "behind");
    expect(wire.sent.at(-1)).toMatchObject({ ready: false, notReadyReasons: ["log: behind"], sequence: 7n });
  });

  it("adds what the service says about itself, as it is at that moment", async () => {
    const { clock, wire, presence } = setUp();
    let leases = 1n;
    presence.describe(() => ({ grpcAddress: "127.0.0.1:8368" }));
    presence.describe(() => ({ serves: ["tenure.v1.X"], partitions: [{ ...partition, leases }] }));
    leases = 2n;
    await clock.advance(1000);
    expect(wire.sent.at(-1)).toMatchObject({
      grpcAddress: "127.0.0.1:8368",
      serves: ["tenure.v1.X"],
      partitions: [{ partition: 1, leases: 2n }],
    });
  });

  it("says last that it stops, and then nothing more", async () => {
    const { clock, wire, health, presence } = setUp();
    health.set("nats", true);
    presence.serving();
    presence.stop();
    const count = wire.sent.length;
    expect(wire.sent.at(-1)).toMatchObject({ state: ServiceState.STOPPING, ready: false });
    health.set("nats", false);
    await clock.advance(5000);
    expect(wire.sent).toHaveLength(count);
    expect(clock.pendingTimers).toBe(0);
  });

  it("is silent while it is cut off, and speaks as soon as it is back", async () => {
    const { clock, wire } = setUp();
    wire.change("disconnected");
    await clock.advance(5000);
    expect(wire.sent).toHaveLength(1);
    wire.change("connected");
    expect(wire.sent).toHaveLength(2);
  });
});

describe("watchPresence", () => {
  it("tells who is there and what changed, and not that nothing changed", async () => {
    const { clock, wire, health, presence } = setUp();
    const heard: string[] = [];
    using watch = watchPresence(wire, clock, (instances) =>
      heard.push(instances.map(({ instance, state, ready }) => `${instance} ${state} ${ready}`).join()),
    );
    await clock.advance(3000);
    expect(heard).toEqual(["host-1-abcdef 1 false"]);
    health.set("nats", true);
    presence.serving();
    expect(heard.slice(1)).toEqual(["host-1-abcdef 2 true"]);
    expect(watch.instances).toHaveLength(1);
  });

  it("drops an instance after three silent seconds", async () => {
    const { clock, wire, presence } = setUp();
    using watch = watchPresence(wire, clock, () => {});
    await clock.advance(1000);
    presence.stop();
    await clock.advance(2999);
    expect(watch.instances.map(({ state }) => state)).toEqual([ServiceState.STOPPING]);
    await clock.advance(1);
    expect(watch.instances).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("drops nobody while it is cut off itself, nor before it has listened long enough again", async () => {
    const { clock, wire, presence } = setUp();
    using watch = watchPresence(wire, clock, () => {});
    await clock.advance(1000);
    presence.stop();
    wire.change("disconnected");
    await clock.advance(60_000);
    expect(watch.instances).toHaveLength(1);
    wire.change("connected");
    await clock.advance(2999);
    expect(watch.instances).toHaveLength(1);
    await clock.advance(1);
    expect(watch.instances).toHaveLength(0);
  });

  it("does not believe garbage, another's name, or an announcement that is older than one it has", () => {
    const clock = new FakeClock();
    const wire = new Wire();
    using watch = watchPresence(wire, clock, () => {});
    const say = (status: Partial<ServiceStatus>, subject = "tenure.presence.identity.a") => {
      const full = ServiceStatus.fromPartial({ service: "identity", instance: "a", ...status });
      wire.publish(subject, ServiceStatus.encode(full).finish());
    };
    say({ sequence: 2n, version: "new" });
    say({ sequence: 1n, version: "old" });
    say({ sequence: 3n, version: "foreign" }, "tenure.presence.identity.b");
    expect(watch.instances.map(({ version }) => version)).toEqual(["new"]);
    say({ sequence: 1n, version: "restarted", startedAt: { seconds: 5n, nanos: 0 } });
    expect(watch.instances.map(({ version }) => version)).toEqual(["restarted"]);
  });

  it("ignores bytes that are no status", () => {
    const wire = new Wire();
    let listener: (payload: Uint8Array, subject: string) => void = () => {};
    wire.subscribe = (_, heard) => {
      listener = heard;
      return () => {};
    };
    using watch = watchPresence(wire, new FakeClock(), () => {});
    listener(new Uint8Array([0xff, 0xff, 0xff]), "tenure.presence.identity.a");
    listener(new Uint8Array(), "tenure.presence.identity.a");
    expect(watch.instances).toEqual([]);
  });
});

const partition = {
  partition: 1,
  epoch: 1n,
  owner: "",
  appliedRevision: 0n,
  lag: 0n,
  halted: false,
  snapshotRevision: 0n,
  leases: 0n,
};
