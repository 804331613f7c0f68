import {
  type CommandBody,
  commitBatch,
  defaultCandidateSpec,
  defaultLeaseSpec,
  emptyPartition,
  execute,
  openBatch,
  ownPartition,
  type PartitionState,
} from "@tenure/core";
import { FakeClock, seededRandom } from "@tenure/kernel";
import { beforeEach, describe, expect, it } from "vitest";
import { standingOf } from "./lease-standing.ts";
import { LeaseTally } from "./lease-tally.ts";

const lease = "billing/scheduler";
const spec = { ...defaultCandidateSpec, binaryVersion: "1.20.0", compatibilityVersion: "1.20.0" };

/** One partition whose every batch the tally is told of, on a clock that tests move. */
class World {
  readonly clock = new FakeClock({ startMs: 10_000 });
  readonly led: number[] = [];
  readonly tally = new LeaseTally(this.clock, (leaderlessMs) => this.led.push(leaderlessMs));
  readonly #owned = ownPartition(emptyPartition(0, this.clock.now()), this.clock.now(), this.clock.wall());

  constructor() {
    this.run({ kind: "takeOver", epoch: 1n, owner: "store-1", isHandedOver: false });
  }

  get state(): PartitionState {
    return this.#owned.state;
  }

  run(...commands: readonly CommandBody[]): void {
    const { clock, state } = this;
    const batch = openBatch(this.#owned, clock.now(), clock.wall());
    for (const command of commands) execute(this.#owned, { ...command, principal: "test" }, clock.now());
    if (batch.events.length === 0) return;
    const sequence = state.lastSequence + 1n;
    commitBatch(this.#owned, sequence, sequence.toString(16).padStart(32, "0"));
    this.tally.note({ partition: 0, sequence, events: batch.events, state });
  }

  recordOf(key = lease) {
    return this.state.leases.get(key);
  }

  revisionOf(key = lease): bigint {
    return this.recordOf(key)?.revision.sequence ?? 0n;
  }

  tokenOf(key = lease): bigint {
    return this.recordOf(key)?.holds[0]?.token ?? 0n;
  }
}

const create = (key = lease): CommandBody => ({ kind: "create", lease: key, spec: defaultLeaseSpec });
const acquire = (key = lease): CommandBody => ({
  kind: "acquire",
  claims: [{ lease: key, mode: "exclusive", units: 1 }],
  claimant: { holder: "a" },
  sendNumber: 1n,
});
const register = (candidate = "a", key = lease): CommandBody => ({
  kind: "registerCandidate",
  lease: key,
  candidate,
  spec,
});
const withdraw = (candidate = "a", key = lease): CommandBody => ({
  kind: "withdrawCandidate",
  lease: key,
  candidate,
  expectedRevision: undefined,
});

let world: World;
const release = (key = lease): CommandBody => ({ kind: "release", items: [{ lease: key, token: world.tokenOf(key) }] });
const remove = (key = lease): CommandBody => ({
  kind: "delete",
  lease: key,
  expectedRevision: world.revisionOf(key),
  expectedUid: undefined,
});
const endTerm = (key = lease): CommandBody => ({
  kind: "markEndOfTerm",
  lease: key,
  expectedRevision: world.revisionOf(key),
  token: world.tokenOf(key),
  preferredHolder: "",
});
const revoke = (key = lease): CommandBody => ({
  kind: "revoke",
  lease: key,
  expectedRevision: world.revisionOf(key),
  token: 0n,
});
const clearEnd = (key = lease): CommandBody => ({
  kind: "clearEndOfTerm",
  lease: key,
  expectedRevision: world.revisionOf(key),
});
const elect = (candidate = "a", key = lease): CommandBody => ({
  kind: "elect",
  lease: key,
  expectedRevision: world.revisionOf(key),
  candidate,
  coordinator: "election-1",
});
const accept = (candidate = "a", key = lease): CommandBody => ({
  kind: "accept",
  lease: key,
  candidate,
  token: world.recordOf(key)?.pending?.token ?? 0n,
  claimant: { holder: candidate },
  sendNumber: 1n,
});
const expire = (key = lease): CommandBody => ({ kind: "expire", lease: key });

/** What is held, ending, free and leaderless. */
function numbers() {
  const { candidates: _, ...states } = allNumbers();
  return states;
}

function allNumbers() {
  const { candidates, ending, free, held, leaderless } = world.tally.numbers ?? {};
  return { held, ending, free, leaderless, candidates };
}

beforeEach(() => {
  world = new World();
});

describe("the tally of leases", () => {
  it("says nothing before the log is followed", () => {
    world.run(create());
    expect(world.tally.numbers).toBeUndefined();
  });

  it("follows a lease from free to leaderless, held, ending, leaderless and gone", () => {
    world.tally.follow([world.state]);
    expect(numbers()).toEqual({ held: 0, ending: 0, free: 0, leaderless: 0 });
    world.run(create());
    expect(numbers()).toEqual({ held: 0, ending: 0, free: 1, leaderless: 0 });
    world.run(register());
    expect(numbers()).toEqual({ held: 0, ending: 0, free: 1, leaderless: 1 });
    world.run(elect());
    expect(numbers()).toEqual({ held: 0, ending: 0, free: 1, leaderless: 1 });
    world.run(accept());
    expect(numbers()).toEqual({ held: 1, ending: 0, free: 0, leaderless: 0 });
    world.run(endTerm());
    expect(numbers()).toEqual({ held: 1, ending: 1, free: 0, leaderless: 0 });
    world.run(release());
    expect(numbers()).toEqual({ held: 0, ending: 0, free: 1, leaderless: 1 });
    world.run(remove());
    expect(numbers()).toEqual({ held: 0, ending: 0, free: 0, leaderless: 0 });
  });

  it("counts no lease of the system and none that is not there", () => {
    world.tally.follow([world.state]);
    world.run(acquire("tenure-system/shard-1"), acquire("tenure-identities/a"), register("a", "billing/absent"));
    expect(numbers()).toEqual({ held: 0, ending: 0, free: 0, leaderless: 0 });
    expect(world.tally.numbers).toMatchObject({ identities: 1, candidates: 0 });
  });

  it("knows for how long the longest has been leaderless, and for how long one was", async () => {
    world.tally.follow([world.state]);
    world.run(create(), register(), create("billing/other"), register("a", "billing/other"));
    expect(world.tally.numbers).toMatchObject({ longestLeaderlessMs: 0, leaderlessNames: [lease, "billing/other"] });
    await world.clock.advance(3_000);
    world.run(elect());
    world.run(accept());
    expect(world.led).toEqual([3_000]);
    await world.clock.advance(2_000);
    world.run(release());
    expect(world.tally.numbers?.longestLeaderlessMs).toBe(5_000);
    world.run(withdraw("a", "billing/other"));
    await world.clock.advance(1_000);
    expect(world.tally.numbers?.longestLeaderlessMs).toBe(1_000);
    expect(world.led).toEqual([3_000]);
  });

  it("counts what was there, in steps, while the log goes on", async () => {
    const names = Array.from({ length: 12_000 }, (_, place) => `billing/lease-${place}`);
    for (const name of names) world.run(acquire(name));
    world.tally.follow([world.state]);
    expect(world.tally.numbers).toBeUndefined();
    world.run(release(names[0]), release(names.at(-1)), remove(names[1]), create("billing/new"));
    for (let step = 0; step < 3; step += 1) await world.clock.advance(1);
    expect(allNumbers()).toEqual(countNow());
    expect(numbers().free).toBe(3);
  });

  it("counts a partition that was loaded anew from the start", () => {
    world.tally.follow([world.state]);
    world.run(acquire());
    const another = new World();
    another.run(create(), create("billing/other"));
    world.tally.follow([another.state]);
    world.run(acquire("billing/more"));
    expect(numbers()).toEqual({ held: 0, ending: 0, free: 2, leaderless: 0 });
  });

  it.each([1, 2, 3, 4, 5])("agrees with a full count after whatever happens (seed %i)", async (seed) => {
    const random = seededRandom(seed);
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)] as Item;
    const keys = [lease, "billing/other", "shop/till", "tenure-system/shard-1"];
    const candidate = () => pick(["a", "b"]);
    const acts: readonly ((key: string) => CommandBody)[] = [
      create,
      remove,
      acquire,
      acquire,
      release,
      endTerm,
      clearEnd,
      revoke,
      expire,
      expire,
      (key) => register(candidate(), key),
      (key) => withdraw(candidate(), key),
      (key) => elect(candidate(), key),
      (key) => accept(candidate(), key),
      (key) => accept(candidate(), key),
      (key) => ({ kind: "removeTombstones", leases: [key] }),
    ];
    world.tally.follow([world.state]);
    const met = new Set<string>();
    for (let step = 0; step < 1_500; step += 1) {
      world.run(...Array.from({ length: pick([1, 1, 2, 3]) }, () => pick(acts)(pick(keys))));
      await world.clock.advance(pick([0, 100, 4_000]));
      const counted = countNow();
      expect(allNumbers()).toEqual(counted);
      for (const [name, count] of Object.entries(counted)) if (count > 0) met.add(name);
    }
    expect([...met].sort()).toEqual(["candidates", "ending", "free", "held", "leaderless"]);
  });
});

/** The same by going through all leases. */
function countNow() {
  const counted = { held: 0, ending: 0, free: 0, leaderless: 0, candidates: 0 };
  for (const record of world.state.leases.values()) {
    const standing = standingOf(record, world.clock.now());
    if (standing === undefined || standing === "deleted") continue;
    counted.candidates += record.candidates?.size ?? 0;
    counted[standing === "ending" ? "held" : standing === "leaderless" ? "free" : standing] += 1;
    if (standing === "ending" || standing === "leaderless") counted[standing] += 1;
  }
  return counted;
}
