import { defaultOwnershipTiming as timing } from "@tenure/core";
import type { HeardReplica, OwnBeat } from "@tenure/log";
import { describe, expect, it } from "vitest";
import { OwnershipDriver } from "./ownership-driver.ts";
import { claim, type Member, quickSettings, send, World } from "./testing/world.ts";

/** Beats that reach every other driver at once, unless their sender is silent. */
class Room {
  readonly #heard = new Map<string, HeardReplica>();
  readonly silent = new Set<string>();

  forget(instance: string): void {
    this.#heard.delete(instance);
  }

  ownedBy(instance: string): ReadonlyMap<number, bigint> | undefined {
    return this.#heard.get(instance)?.owned;
  }

  seat(world: World, instance: string) {
    return {
      send: (beat: OwnBeat) => {
        if (!this.silent.has(instance)) this.#heard.set(instance, { ...beat, instance, heardAtMs: world.clock.now() });
      },
      hear: () => [...this.#heard.values()].filter((replica) => replica.instance !== instance),
    };
  }
}

async function seated(world: World, room: Room, instance: string) {
  const member = await world.join(instance);
  const seat = room.seat(world, instance);
  const driver = new OwnershipDriver({
    replica: member.replica,
    instance,
    clock: world.clock,
    beats: {
      send: seat.send,
      get replicas() {
        return seat.hear();
      },
    },
    timing,
    connectedSinceMs: () => (member.transport.connected ? 0 : undefined),
  });
  member.onOwner = () => driver.reconsider(0);
  member.onApplied = () => driver.noteBatch(0);
  return { member, driver };
}

const roleOf = ({ replica }: Member) => replica.at(0).role;

describe("the ownership of a partition", () => {
  it("goes to one replica, stays there, and passes to the other when the owner is cut off", async () => {
    await using world = new World();
    const room = new Room();
    const a = await seated(world, room, "a");
    const b = await seated(world, room, "b");
    await world.run(2_000);
    expect([roleOf(a.member), roleOf(b.member)].toSorted()).toEqual(["following", "owning"]);
    const [owner, other] = roleOf(a.member) === "owning" ? [a, b] : [b, a];
    const timingOfHolder = { ...quickSettings.timing, leaseDurationMs: 10_000 };
    const long = claim("x", "billing/job", { claimant: { holder: "x", timing: timingOfHolder } });
    const [granted] = await Promise.all([send(owner.member, long), world.run(20)]);
    expect(granted.kind).toBe("granted");

    const name = owner.member.replica.at(0).state.owner;
    room.silent.add(name);
    owner.member.transport.cut();
    await world.run(timing.silenceMs - 100);
    expect(roleOf(other.member)).toBe("following");
    await world.run(600);
    expect(roleOf(other.member)).toBe("owning");
    expect(other.member.replica.at(0).state.leases.get("billing/job")?.holds).toHaveLength(1);
    a.driver[Symbol.dispose]();
    b.driver[Symbol.dispose]();
  });

  it("passes on at the instant when the silence is long enough, whenever the next beat is", async () => {
    await using world = new World();
    const room = new Room();
    const a = await seated(world, room, "a");
    const b = await seated(world, room, "b");
    await world.run(2_000);
    const [owner, other] = roleOf(a.member) === "owning" ? [a, b] : [b, a];
    // The last sign of life is a batch between two beats.
    await world.run(timing.beatIntervalMs / 2);
    const [granted] = await Promise.all([send(owner.member, claim("x", "billing/job")), world.run(20)]);
    expect(granted.kind).toBe("granted");
    room.silent.add(owner.member.replica.at(0).state.owner);
    owner.member.transport.cut();
    await world.run(timing.silenceMs - 30);
    expect(roleOf(other.member)).toBe("following");
    await world.run(40);
    expect(roleOf(other.member)).toBe("owning");
    a.driver[Symbol.dispose]();
    b.driver[Symbol.dispose]();
  });

  it("is told at once to whoever listens, and by nobody who leaves", async () => {
    await using world = new World();
    const room = new Room();
    const a = await seated(world, room, "a");
    await world.run(2_000);
    room.forget("a");
    a.driver.announce();
    expect(room.ownedBy("a")).toEqual(new Map([[0, 1n]]));
    await a.driver.leave();
    room.forget("a");
    a.driver.announce();
    expect(room.ownedBy("a")).toBeUndefined();
    a.driver[Symbol.dispose]();
  });

  it("is handed over within a few milliseconds when the owner leaves", async () => {
    await using world = new World();
    const room = new Room();
    const a = await seated(world, room, "a");
    const b = await seated(world, room, "b");
    await world.run(2_000);
    const [owner, other] = roleOf(a.member) === "owning" ? [a, b] : [b, a];
    const left = owner.driver.leave();
    await world.run(20);
    await left;
    expect([roleOf(owner.member), roleOf(other.member)]).toEqual(["following", "owning"]);
    a.driver[Symbol.dispose]();
    b.driver[Symbol.dispose]();
  });
});
