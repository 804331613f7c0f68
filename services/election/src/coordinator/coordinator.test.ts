import {
  type Command,
  commitBatch,
  defaultCandidateSpec,
  type ElectionDecision,
  electionCommand,
  emptyPartition,
  execute,
  type LeaseRecord,
  noteAppendAcked,
  openBatch,
  ownPartition,
  type Reply,
} from "@tenure/core";
import { FakeClock, Fault } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { Coordinator } from "./coordinator.ts";

const lease = "tests/scheduler";
const expressions = { compile: () => ({ kind: "refused", problems: [] }) as const };

/** A partition with an owner, and a coordinator that follows it; commands take 1 ms. */
class World {
  readonly clock = new FakeClock();
  readonly owned = ownPartition(emptyPartition(0, this.clock.now()), this.clock.now(), this.clock.wall());
  readonly beats = new Map<string, number>();
  readonly done: string[] = [];
  readonly refused: string[] = [];
  isMine = true;
  /** Commands are acknowledged, and the log does not bring them. */
  isLogAway = false;
  /** Called before a command reaches the owner. */
  onCommand: (decision: ElectionDecision) => void = () => {};
  #sequence = 10n;
  coordinator = this.makeCoordinator();

  constructor() {
    this.run({ kind: "takeOver", epoch: 1n, owner: "o", isHandedOver: false } as never, "o");
  }

  makeCoordinator(): Coordinator {
    const since = this.clock.now();
    return new Coordinator({
      clock: this.clock,
      expressions,
      partitions: 1,
      stateOf: () => this.owned.state,
      followedSinceMs: () => since,
      isMine: () => this.isMine,
      beatsOf: () => this.beats,
      decisions: { carryOut: (decision, record) => this.#carryOut(decision, record) },
      listener: {
        onLook: () => {},
        onDone: (_, { action }) => this.done.push(action.kind),
        onRefused: (_, __, fault) => this.refused.push(fault.reason),
      },
      commandsUnderWay: 4,
    });
  }

  /** Lets what is under way happen. */
  async settle(): Promise<void> {
    await this.clock.advance(0);
    await this.clock.advance(3);
  }

  run(command: Omit<Command, "principal">, principal = "co"): Reply {
    const reply = this.#runOnce(command, principal);
    return reply.kind === "nextBatch" ? this.#runOnce(command, principal) : reply;
  }

  #runOnce(command: Omit<Command, "principal">, principal: string): Reply {
    openBatch(this.owned, this.clock.now(), this.clock.wall());
    const reply = execute(this.owned, { ...command, principal } as Command, this.clock.now());
    this.#sequence += 1n;
    const { events } = this.owned.batch;
    commitBatch(this.owned, this.#sequence, `b${this.#sequence}`);
    const { guard, state } = this.owned;
    this.owned.guard = noteAppendAcked(guard, this.clock.now(), this.clock.now(), state.settings.timing);
    this.coordinator.onApplied({ partition: 0, sequence: this.#sequence, events, state });
    return reply;
  }

  register(candidate: string, version = "1.20.0", of = lease) {
    const spec = { ...defaultCandidateSpec, binaryVersion: version, compatibilityVersion: version };
    this.run({ kind: "registerCandidate", lease: of, candidate, spec } as Omit<Command, "principal">, candidate);
  }

  answer(candidate: string) {
    const pingNumber = this.record.candidates?.get(candidate)?.ping?.number ?? 0n;
    this.run({ kind: "ackCandidates", answers: [{ lease, candidate, pingNumber }] } as never, candidate);
  }

  accept(candidate: string) {
    const token = this.record.pending?.token ?? 0n;
    const command = { kind: "accept", lease, candidate, token, claimant: { holder: candidate }, sendNumber: 1n };
    return this.run(command as never, candidate);
  }

  get record(): LeaseRecord {
    const record = this.owned.state.leases.get(lease);
    if (record === undefined) throw new Error("nothing is kept");
    return record;
  }

  async #carryOut(decision: ElectionDecision, record: LeaseRecord): Promise<bigint> {
    const ballot = { coordinator: "co", decision: { id: "d", body: new Uint8Array() } };
    const command = electionCommand(decision.action, record.key, ballot);
    if (command === undefined) return 0n;
    await this.clock.sleep(1);
    this.onCommand(decision);
    const reply = this.run(command as never);
    if (reply.kind === "changed" || reply.kind === "pinged")
      return this.isLogAway ? this.#sequence + 1_000n : this.#sequence;
    throw new Fault({ code: "ABORTED", reason: reply.kind, message: reply.kind });
  }
}

describe("Coordinator", () => {
  it("[54] [55] asks, and elects at the answer, not at the end of the time for it", async () => {
    const world = new World();
    world.register("a");
    await world.settle();
    expect(world.done).toEqual(["ping"]);
    world.answer("a");
    await world.settle();
    expect(world.done).toEqual(["ping", "elect"]);
    expect(world.record.pending?.candidate).toBe("a");
    expect(world.accept("a").kind).toBe("granted");
    world.coordinator[Symbol.dispose]();
  });

  it("[52] elects at once one that beats on a live stream", async () => {
    const world = new World();
    world.beats.set("a", world.clock.now());
    world.register("a");
    await world.settle();
    expect(world.done).toEqual(["elect"]);
    world.coordinator[Symbol.dispose]();
  });

  it("[56] [57] elects the other after 5 s when one is silent, and does not ask the silent one again", async () => {
    const world = new World();
    world.register("a");
    world.register("b");
    await world.settle();
    world.answer("b");
    await world.clock.advance(4_990);
    expect(world.done).toEqual(["ping"]);
    await world.clock.advance(30);
    await world.settle();
    expect(world.done).toEqual(["ping", "elect"]);
    expect(world.record.pending?.candidate).toBe("b");
    world.coordinator[Symbol.dispose]();
  });

  it("[59] tries again by timer when nobody answers", async () => {
    const world = new World();
    world.register("a");
    await world.settle();
    await world.clock.advance(10_100);
    await world.settle();
    expect(world.done).toEqual(["ping", "ping"]);
    world.coordinator[Symbol.dispose]();
  });

  it("[91] goes on where another has left off, from the records alone", async () => {
    const world = new World();
    world.register("a");
    await world.settle();
    world.coordinator[Symbol.dispose]();
    world.coordinator = world.makeCoordinator();
    await world.settle();
    world.answer("a");
    await world.settle();
    expect(world.done).toEqual(["ping", "elect"]);
    world.coordinator[Symbol.dispose]();
    world.coordinator = world.makeCoordinator();
    world.coordinator.scan(() => true);
    expect(world.accept("a").kind).toBe("granted");
    await world.clock.advance(10);
    expect(world.done, "the elected one leads and nothing more happens").toEqual(["ping", "elect"]);
    world.coordinator[Symbol.dispose]();
  });

  it("[90] does nothing about leases of others, and stops when it has lost its own", async () => {
    const world = new World();
    world.isMine = false;
    world.register("a");
    await world.clock.advance(20_000);
    expect(world.done).toEqual([]);
    world.isMine = true;
    world.coordinator.scan(() => true);
    await world.settle();
    expect(world.done).toEqual(["ping"]);
    world.isMine = false;
    world.answer("a");
    await world.clock.advance(60_000);
    expect(world.done).toEqual(["ping"]);
    expect(world.coordinator.size).toBe(0);
    world.coordinator[Symbol.dispose]();
  });

  it("looks at every lease that waited for others' commands, also when the first of them have nothing to do", async () => {
    const world = new World();
    const leases = Array.from({ length: 10 }, (_, number) => `tests/lease-${number}`);
    for (const name of leases) world.register("a", "1.20.0", name);
    let isFirst = true;
    world.onCommand = () => {
      if (!isFirst) return;
      isFirst = false;
      const withdraw = { kind: "withdrawCandidate", candidate: "a", expectedRevision: undefined } as const;
      for (const name of leases.slice(4, 8)) world.run({ ...withdraw, lease: name } as never, "a");
    };
    await world.settle();
    await world.settle();
    expect(world.done).toEqual(Array.from({ length: 6 }, () => "ping"));
    world.coordinator[Symbol.dispose]();
  });

  it("forgets whom it chose for leases that it lost before the log said so", async () => {
    const world = new World();
    world.isLogAway = true;
    world.beats.set("a", 0);
    for (let number = 0; number < 8; number += 1) world.register("a", "1.20.0", `tests/lost-${number}`);
    for (let round = 0; round < 4; round += 1) await world.settle();
    expect(world.done).toEqual(Array.from({ length: 8 }, () => "elect"));
    world.isMine = false;
    await world.clock.advance(60_000);
    world.isMine = true;
    world.isLogAway = false;
    world.beats.set("a", world.clock.now());
    world.register("a");
    await world.settle();
    expect(world.done).toHaveLength(9);
    world.coordinator[Symbol.dispose]();
  });

  it("[73] a command that was decided on an older revision is refused, and decided anew", async () => {
    const world = new World();
    world.beats.set("a", world.clock.now());
    world.beats.set("b", world.clock.now());
    let isFirst = true;
    world.onCommand = () => {
      if (!isFirst) return;
      isFirst = false;
      world.run({ kind: "create", lease, spec: world.record.spec } as never);
    };
    world.register("b");
    await world.settle();
    expect(world.refused).toEqual(["revisionConflict"]);
    await world.settle();
    expect(world.done).toEqual(["elect"]);
    world.coordinator[Symbol.dispose]();
  });
});
