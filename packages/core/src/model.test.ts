import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Command } from "./partition/command.ts";
import type { Event } from "./partition/event.ts";
import { isOutcome } from "./partition/reply.ts";
import { loadSnapshot } from "./snapshot/load.ts";
import { takeSnapshot } from "./snapshot/take.ts";
import { type Action, actionKinds, clients, commandOf, leases } from "./testing/actions.ts";
import { Desk } from "./testing/desk.ts";
import { Oracle } from "./testing/oracle.ts";

/** Random steps. */
const action: fc.Arbitrary<Action> = fc.record({
  kind: fc.constantFrom(...actionKinds),
  client: fc.constantFrom(...clients),
  isHolder: fc.boolean(),
  lease: fc.constantFrom(...leases),
  tokenOffset: fc.constantFrom(0n, 0n, 0n, -1n, -3n, 1n),
  attempt: fc.option(fc.bigInt({ min: 1n, max: 30n }), { nil: undefined, freq: 2 }),
  mode: fc.constantFrom("exclusive", "exclusive", "shared"),
  isWaiting: fc.boolean(),
  lockDelayMs: fc.constantFrom(0, 0, 4_000),
});

/** One step of a random history: some commands in one batch, or something that happens to the world. */
const step = fc.oneof(
  { weight: 8, arbitrary: fc.array(action, { minLength: 1, maxLength: 4 }) },
  { weight: 3, arbitrary: fc.constantFrom(500, 1_999, 2_000, 4_000, 7_500, 15_000) },
  { weight: 1, arbitrary: fc.constantFrom("failOver", "restart", "repeat") },
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A history in progress. */
class World {
  readonly desk = new Desk();
  readonly oracle = new Oracle();
  readonly #answered: { command: Command; reply: ReturnType<Desk["run"]> }[] = [];

  take(step: Step): void {
    if (typeof step === "number") this.desk.advance(step);
    else if (step === "failOver") this.desk.failOver();
    else if (step === "restart") this.desk.restart();
    else if (step === "repeat") this.#repeat();
    else this.#decide(step.map((one) => commandOf(one, this.desk.state)));
    this.oracle.judge(this.desk.owned.batch.events, this.desk.now);
    this.oracle.inspect(this.desk.state);
  }

  #decide(commands: readonly Command[]): void {
    const replies = this.desk.batch(...commands);
    for (const [index, reply] of replies.entries()) {
      const command = commands[index];
      const isRecorded = isOutcome(reply) && reply.position !== undefined && command?.attempt !== undefined;
      if (isRecorded) this.#answered.push({ command, reply });
    }
  }

  /** Every recorded attempt, sent again, gets its outcome and has no second effect. */
  #repeat(): void {
    // First whoever waits only for the next batch gets it, so that every event of the repetition is a second effect.
    for (let round = 0; round < 20 && this.desk.owned.stirred.size > 0; round++) {
      this.desk.batch();
      this.oracle.judge(this.desk.owned.batch.events, this.desk.now);
    }
    const replies = this.desk.batch(...this.#answered.map(({ command }) => command));
    expect(this.desk.owned.batch.events).toEqual([]);
    for (const [index, reply] of replies.entries()) {
      const first = this.#answered[index]?.reply;
      expect(strip(reply)).toEqual(strip(first));
    }
  }
}

/** Without the instant, which is each replica's own. */
function strip(reply: unknown): unknown {
  const { position, ...facts } = reply as { position?: { sequence: bigint; wallMs: number } };
  return { ...facts, sequence: position?.sequence, wallMs: position?.wallMs };
}

const reached: readonly Event["kind"][] = [
  "holdGranted",
  "holdPending",
  "holdEnded",
  "renewed",
  "holdChanged",
  "leaseRestored",
  "pendingLapsed",
  "guardChanged",
  "leaseDeleted",
  "endOfTermMarked",
  "tombstoneRemoved",
  "attemptRecorded",
];

const runs = process.env.TENURE_LONG === undefined ? 1_000 : 50_000;

describe("random histories", () => {
  it("never break an invariant, and leave every replica with the same state", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
        const world = new World();
        for (const one of steps) world.take(one);
        const snapshot = takeSnapshot(world.desk.state);
        expect(takeSnapshot(world.desk.follower)).toEqual(snapshot);
        expect(takeSnapshot(loadSnapshot(snapshot, 0))).toEqual(snapshot);
        for (const [kind, count] of world.oracle.seen) seen.set(kind, (seen.get(kind) ?? 0) + count);
      }),
      { numRuns: runs },
    );
    // The histories were not idle: every kind of fact that matters was reached.
    expect(reached.filter((kind) => !seen.has(kind))).toEqual([]);
  }, 1_200_000);
});
