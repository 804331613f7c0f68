import { FakeClock, type Random, seededRandom } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownershipDecision } from "./decision.ts";
import { desiredOwner } from "./placement.ts";
import { noTakeovers, noteTakeover, type TakeoverHistory } from "./takeover-history.ts";
import { defaultOwnershipTiming as timing } from "./timing.ts";
import type { ReplicaSight } from "./view.ts";

const partitions = [0, 1, 2, 3, 4, 5, 6, 7];

/** What the log says of a partition: the one truth that all replicas share. */
interface Entry {
  epoch: bigint;
  owner: string;
  successor: string;
  atMs: number;
}

/** Replicas that beat over a lossy bus and decide every interval; the log is shared and lets the first append win. */
class World {
  readonly clock = new FakeClock({ startMs: 1_000 });
  readonly log = new Map<number, Entry>(
    partitions.map((partition) => [partition, { epoch: 0n, owner: "", successor: "", atMs: 0 }]),
  );
  readonly moves: { readonly partition: number; readonly from: string; readonly to: string; readonly atMs: number }[] =
    [];
  readonly #replicas = new Map<string, Replica>();
  readonly #random: Random;
  readonly #lossRate: number;

  constructor(seed = 1, lossRate = 0) {
    this.#random = seededRandom(seed);
    this.#lossRate = lossRate;
  }

  start(instance: string): Replica {
    const replica = new Replica(this, instance, this.#random);
    this.#replicas.set(instance, replica);
    return replica;
  }

  kill(instance: string): void {
    this.#replicas.get(instance)?.stop();
    this.#replicas.delete(instance);
  }

  beat(sight: ReplicaSight): void {
    for (const replica of this.#replicas.values()) {
      if (replica.instance !== sight.instance && this.#random.next() >= this.#lossRate) replica.hear(sight);
    }
  }

  take(partition: number, to: string): void {
    const entry = this.log.get(partition);
    if (entry === undefined) return;
    this.moves.push({ partition, from: entry.owner, to, atMs: this.clock.now() });
    this.log.set(partition, { epoch: entry.epoch + 1n, owner: to, successor: "", atMs: this.clock.now() });
  }

  owners(): readonly string[] {
    return partitions.map((partition) => this.log.get(partition)?.owner ?? "");
  }
}

class Replica {
  readonly instance: string;
  readonly #world: World;
  readonly #startedAtMs: number;
  readonly #heard = new Map<string, ReplicaSight>();
  readonly #histories = new Map<number, TakeoverHistory>();
  #lastHandOverAtMs: number | undefined;
  #isStopped = false;
  isLeaving = false;

  constructor(world: World, instance: string, random: Random) {
    this.#world = world;
    this.instance = instance;
    this.#startedAtMs = world.clock.now();
    world.clock.schedule(random.next() * timing.beatIntervalMs, () => this.turn());
  }

  stop(): void {
    this.#isStopped = true;
  }

  hear(sight: ReplicaSight): void {
    this.#heard.set(sight.instance, { ...sight, heardAtMs: this.#world.clock.now() });
  }

  turn(): void {
    if (this.#isStopped) return;
    for (const partition of partitions) this.#decide(partition);
    const now = this.#world.clock.now();
    const owned = new Map([...this.#world.log].flatMap(([partition, entry]) => this.#ownedEntry(partition, entry)));
    const { instance, isLeaving } = this;
    this.#world.beat({ instance, heardAtMs: now, uptimeMs: now - this.#startedAtMs, isLeaving, owned });
    this.#world.clock.schedule(timing.beatIntervalMs, () => this.turn());
  }

  #ownedEntry(partition: number, { epoch, owner, successor }: Entry): [number, bigint][] {
    return owner === this.instance && successor === "" ? [[partition, epoch]] : [];
  }

  #decide(partition: number): void {
    const now = this.#world.clock.now();
    const entry = this.#world.log.get(partition);
    if (entry === undefined) return;
    const history = this.#histories.get(partition) ?? noTakeovers;
    const decision = ownershipDecision(
      {
        partition,
        self: this.instance,
        log: { ...entry, lastBatchAtMs: entry.atMs },
        isOwner: entry.owner === this.instance && entry.successor === "",
        isCaughtUp: true,
        isLeaving: this.isLeaving,
        connectedSinceMs: this.#startedAtMs,
        uptimeMs: now - this.#startedAtMs,
        replicas: [...this.#heard.values()],
        history,
        lastHandOverAtMs: this.#lastHandOverAtMs,
      },
      now,
      timing,
    );
    if (decision.kind === "takeOver") {
      this.#histories.set(partition, noteTakeover(history, now, timing));
      this.#world.take(partition, this.instance);
    } else if (decision.kind === "handOver") {
      this.#lastHandOverAtMs = now;
      this.#world.log.set(partition, { ...entry, successor: decision.to, atMs: now });
    }
  }
}

const names = ["store-a", "store-b", "store-c"];

/** Three replicas that have settled and are in balance. */
async function balanced(seed = 1, lossRate = 0): Promise<World> {
  const world = new World(seed, lossRate);
  for (const name of names) world.start(name);
  await world.clock.advance(30_000);
  return world;
}

describe("replicas that decide by themselves", () => {
  it("come to the placement that rendezvous hashing names, and then leave everything where it is", async () => {
    const world = await balanced();
    expect(world.owners()).toEqual(partitions.map((partition) => desiredOwner(partition, names)));
    const moves = world.moves.length;
    await world.clock.advance(300_000);
    expect(world.moves).toHaveLength(moves);
  });

  it("replace a killed owner within the silence, one stagger and two turns, and move nothing else", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), fc.integer({ min: 1, max: 1_000 }), async (victim, seed) => {
        const world = await balanced(seed);
        const before = world.owners();
        const moves = world.moves.length;
        const killedAtMs = world.clock.now();
        world.kill(victim);
        await world.clock.advance(5_000);
        const others = names.filter((name) => name !== victim);
        expect(world.owners()).toEqual(
          before.map((owner, partition) => (owner === victim ? desiredOwner(partition, others) : owner)),
        );
        for (const move of world.moves.slice(moves)) {
          expect(move.from).toBe(victim);
          expect(move.atMs - killedAtMs).toBeLessThanOrEqual(
            timing.silenceMs + timing.staggerMs + 2 * timing.beatIntervalMs,
          );
        }
      }),
      { numRuns: 20 },
    );
  });

  it("give nothing to a replica that starts again every few seconds", async () => {
    const world = await balanced();
    const before = world.owners();
    const moves = world.moves.length;
    for (let round = 0; round < 10; round += 1) {
      world.start(`crasher-${round}`);
      await world.clock.advance(timing.settleMs - 1_000);
      world.kill(`crasher-${round}`);
      await world.clock.advance(500);
    }
    expect(world.owners()).toEqual(before);
    expect(world.moves).toHaveLength(moves);
  });

  it("give a replica that stays what belongs to it, once, and nothing moves between the others", async () => {
    const world = await balanced();
    const before = world.owners();
    const moves = world.moves.length;
    world.start("store-d");
    await world.clock.advance(timing.settleMs + 20_000);
    const wanted = partitions.map((partition) => desiredOwner(partition, [...names, "store-d"]));
    expect(world.owners()).toEqual(wanted);
    expect(world.moves.length - moves).toBe(wanted.filter((owner, partition) => owner !== before[partition]).length);
  });

  it("take what a leaving replica hands over within one turn", async () => {
    const world = await balanced();
    world.kill("store-c");
    const leaving = world.start("store-e");
    await world.clock.advance(60_000);
    const moves = world.moves.length;
    leaving.isLeaving = true;
    const leftAtMs = world.clock.now();
    await world.clock.advance(1_000);
    expect(world.owners()).not.toContain("store-e");
    for (const move of world.moves.slice(moves)) {
      expect(move.atMs - leftAtMs).toBeLessThanOrEqual(2 * timing.beatIntervalMs);
    }
  });

  it("leave a living owner alone when one beat in four is lost", async () => {
    const world = await balanced(7, 0.25);
    const moves = world.moves.length;
    await world.clock.advance(120_000);
    expect(world.moves.length - moves).toBeLessThanOrEqual(8);
    expect(world.owners().every((owner) => names.includes(owner))).toBe(true);
  });
});
