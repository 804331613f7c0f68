import { seededRandom } from "@tenure/kernel";
import { demand, type Violation } from "./oracle/violation.ts";
import { type Profile, profileOf } from "./profile.ts";
import { drawSchedule, type Schedule } from "./schedule.ts";
import { World, type WorldParts } from "./world.ts";

/** What one run showed. */
export interface RunResult {
  readonly schedule: Schedule;
  readonly steps: number;
  readonly faults: number;
  /** Terms that holders acted under, answers that were compared with the log, batches that watchers were told. */
  readonly terms: number;
  readonly acknowledged: number;
  readonly told: number;
  /** Changes that watchers were sent. */
  readonly watched: number;
  /** How often elected leaders changed, and how often what they depend on. */
  readonly elections: { readonly transitions: number; readonly changes: number };
  readonly violation: { readonly invariant: string; readonly message: string; readonly atMs: number } | undefined;
}

/** How long the replicas get to agree with the log after everybody else has gone, and how often they are looked at. */
const restMs = 6_000;
const lookMs = 100;

/** The schedule of a seed, in the kind of world that it belongs to or in another. */
export function scheduleOf(seed: number, profile: Profile = profileOf(seed)): Schedule {
  return drawSchedule(seed, profile, seededRandom(seed));
}

/** Runs a schedule from its beginning to its end or to the first violation. The same schedule gives the same run. */
export async function run(schedule: Schedule, parts: WorldParts = {}): Promise<RunResult> {
  const world = new World(schedule, parts);
  const { court } = world.oracles;
  const onCrash = (thrown: unknown): void => court.noteCrash(thrown);
  process.on("unhandledRejection", onCrash);
  try {
    court.examine(() => world.begin());
    await advance(world, schedule.endMs);
    court.examine(() => world.crew.expectQuiet());
    world.retire();
    await rest(world, schedule.endMs);
  } finally {
    process.off("unhandledRejection", onCrash);
  }
  return resultOf(world, schedule, court.violation);
}

/** The replicas go on for a while by themselves: what is left expires, and then all of them have what the log has. */
async function rest(world: World, fromMs: number): Promise<void> {
  const { court } = world.oracles;
  for (let passedMs = lookMs; court.violation === undefined; passedMs += lookMs) {
    await advance(world, fromMs + passedMs);
    if (court.violation !== undefined) return;
    const found = world.oracles.findDisagreement(world.nodes);
    if (found === undefined) return;
    if (passedMs >= restMs) court.examineAlways(() => demand(false, found.invariant, () => found.message));
  }
}

async function advance({ oracles: { court }, time }: World, untilMs: number): Promise<void> {
  while (court.violation === undefined) {
    try {
      if (!(await time.step(untilMs))) return;
    } catch (thrown) {
      court.noteCrash(thrown);
    }
  }
}

function resultOf(world: World, schedule: Schedule, found: Violation | undefined): RunResult {
  const { answers, terms, watches } = world.oracles;
  const atMs = Math.round(world.time.nowMs);
  return {
    schedule,
    steps: world.time.steps,
    faults: world.spoilt,
    terms: terms.begun,
    acknowledged: answers.acknowledged,
    told: watches.told,
    watched: world.oracles.watched,
    elections: world.oracles.leaders.counts,
    violation: found && { invariant: found.invariant, message: found.message, atMs },
  };
}
