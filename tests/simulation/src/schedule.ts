import type { Random } from "@tenure/kernel";
import type { FaultRates } from "@tenure/log/memory";
import type { Weather } from "./network/network.ts";
import type { Profile } from "./profile.ts";

/** One thing that goes wrong, when and for how long. Times are ms of the true clock. */
export type Incident = { readonly atMs: number } & (
  | { readonly kind: "crash"; readonly process: string; readonly forMs: number }
  | { readonly kind: "pause"; readonly process: string; readonly forMs: number }
  | { readonly kind: "suspend"; readonly process: string; readonly forMs: number }
  | { readonly kind: "jumpWall"; readonly process: string; readonly byMs: number }
  | {
      readonly kind: "partition";
      readonly one: string;
      readonly other: string;
      readonly isOneWay: boolean;
      readonly forMs: number;
    }
  | { readonly kind: "isolate"; readonly process: string; readonly isOneWay: boolean; readonly forMs: number }
  | { readonly kind: "crashAll"; readonly forMs: number }
  /** All replicas of the election service stop in order, and come back. */
  | { readonly kind: "roll"; readonly forMs: number }
  | { readonly kind: "cutLog"; readonly process: string; readonly forMs: number }
  | { readonly kind: "failOver"; readonly forMs: number }
  | { readonly kind: "weather"; readonly weather: Weather; readonly forMs: number }
  | { readonly kind: "logTrouble"; readonly rates: FaultRates; readonly forMs: number }
  | { readonly kind: "usurp"; readonly process: string; readonly partition: number }
  | { readonly kind: "handOver"; readonly partition: number; readonly to: string }
  | { readonly kind: "snapshotsDown"; readonly forMs: number }
  | { readonly kind: "compact"; readonly partition: number }
  /** The log forgets its last messages, of whatever partition. */
  | { readonly kind: "loseLog"; readonly messages: number }
);

/** Everything that a run is made of. */
export interface Schedule {
  readonly seed: number;
  /** What the world is about. */
  readonly profile: Profile;
  /** Sequence of the log's first message: a restored stream begins with the time in microseconds (rule 5). */
  readonly firstSequence: number;
  /** No fault begins from here on, and weather and log are fair. */
  readonly healAtMs: number;
  /** The last fault is over. */
  readonly quietFromMs: number;
  readonly endMs: number;
  /** How many processes of each kind. */
  readonly replicas: number;
  readonly holders: number;
  readonly partitions: number;
  readonly leases: number;
  readonly snapshotAfterBatches: number;
  readonly incidents: readonly Incident[];
}

/** The names of the processes of a schedule. */
export function namesOf({ holders, profile, replicas }: Pick<Schedule, "holders" | "profile" | "replicas">) {
  const named = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
  return {
    replicas: named("replica", replicas),
    holders: named("holder", holders),
    candidates: named("candidate", profile.candidates),
    coordinators: named("coordinator", profile.coordinators),
    elections: named("election", profile.elections),
    gateways: named("gateway", profile.gateways),
    watchers: named("watcher", profile.watchers),
  };
}

/** Draws a schedule: a mild or a wild world, all from one source of chance. */
export function drawSchedule(seed: number, profile: Profile, random: Random): Schedule {
  const whole = (least: number, most: number) => least + Math.floor(random.next() * (most - least + 1));
  const drawn = { replicas: whole(2, 3), holders: whole(3, 4), partitions: whole(1, 2), leases: whole(1, 3) };
  const shape = { ...drawn, holders: Math.min(drawn.holders, profile.mostHolders) };
  const snapshotAfterBatches = whole(4, 50);
  const { afterMs, isCalm, troubleMs: healAtMs } = profile;
  const count = isCalm ? 0 : whole(2, 14);
  const incidents = Array.from({ length: count }, () => drawIncident({ ...shape, profile }, random));
  if (profile.losesLog) {
    // Mostly few: what is soon replaced by as many others is harder to see than what is missing.
    incidents.push({ atMs: whole(1_000, healAtMs - 100), kind: "loseLog", messages: whole(1, whole(1, 3)) });
  }
  const firstSequence = random.next() < 0.5 ? 1_000 : restoredAtMicros;
  const loss = incidents.find(({ kind }) => kind === "loseLog");
  if (loss !== undefined) incidents.push(...drawAround(loss.atMs, shape, whole));
  incidents.sort((left, right) => left.atMs - right.atMs);
  const quietFromMs = Math.max(healAtMs, ...incidents.map(endOf));
  const times = { healAtMs, quietFromMs, endMs: quietFromMs + afterMs };
  return { seed, profile, firstSequence, ...times, ...shape, snapshotAfterBatches, incidents };
}

/** When an incident is over by itself. Weather and the log's trouble end when everything else begins to. */
function endOf(incident: Incident): number {
  const { atMs, kind } = incident;
  return kind === "weather" || kind === "logTrouble" || !("forMs" in incident) ? atMs : atMs + incident.forMs;
}

/**
 * What gives the sequences of a lost end again, so that it is not just missing: one who comes back and knows nothing of
 * it can append; and an owner that is lost with it leaves its epoch to another. Now and then nobody comes back.
 */
function drawAround(
  lossAtMs: number,
  { partitions, replicas }: Pick<Schedule, "partitions" | "replicas">,
  whole: (least: number, most: number) => number,
): readonly Incident[] {
  const anyone = () => `replica-${whole(1, replicas)}`;
  const usurped = { process: anyone(), partition: whole(0, partitions - 1) };
  const usurp: Incident = { atMs: lossAtMs - whole(5, 60), kind: "usurp", ...usurped };
  if (whole(1, 10) > 7) return [usurp];
  return [usurp, { atMs: lossAtMs, kind: "crash", process: anyone(), forMs: whole(20, 300) }];
}

/** Some present time: what `init` gives a stream as its first sequence. */
const restoredAtMicros = 1_700_000_000_000_000;

type Shape = Pick<Schedule, "holders" | "partitions" | "profile" | "replicas">;

function drawIncident(shape: Shape, random: Random): Incident {
  const { candidates, elections, gateways, holders, replicas } = namesOf(shape);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)] as T;
  const between = (least: number, most: number) => Math.round(least + random.next() * (most - least));
  const atMs = between(300, shape.profile.troubleMs - 100);
  const anyone = [...replicas, ...holders, ...candidates, ...gateways, ...elections];
  const partition = Math.floor(random.next() * shape.partitions);
  const kind = pick([...kinds, ...shape.profile.incidents]);
  switch (kind) {
    case "crash":
      return { atMs, kind, process: pick(anyone), forMs: between(20, 1_200) };
    case "pause":
    case "suspend": {
      const process = pick(anyone);
      const forMs = pick([between(20, 300), between(300, 900), between(900, 2_000)]);
      // Longer than the leases of its shards: when it wakes up it believes for a while that they are still its own.
      const isOutlived = kind === "suspend" && elections.includes(process);
      return { atMs, kind, process, forMs: isOutlived ? forMs + 2_000 : forMs };
    }
    case "jumpWall":
      return { atMs, kind, process: pick(anyone), byMs: between(-3_600_000, 3_600_000) };
    case "partition":
      return {
        atMs,
        kind,
        one: pick(anyone),
        other: pick(replicas),
        isOneWay: random.next() < 0.5,
        forMs: between(50, 1_500),
      };
    case "isolate":
      return {
        atMs,
        kind,
        process: pick([...holders, ...candidates, ...elections]),
        isOneWay: random.next() < 0.5,
        forMs: between(300, 1_500),
      };
    case "crashAll":
      return { atMs, kind, forMs: between(20, 400) };
    case "roll":
      return { atMs, kind, forMs: between(5, 300) };
    case "cutLog":
      return { atMs, kind, process: pick([...replicas, ...gateways, ...elections]), forMs: between(20, 1_500) };
    case "failOver":
      return { atMs, kind, forMs: between(50, 1_800) };
    case "weather": {
      const mostDelayMs = pick([5, 30, 90, 300]);
      const weather = { loss: pick([0, 0.05, 0.3]), duplication: pick([0, 0.1, 0.4]), mostDelayMs };
      return { atMs, kind, weather, forMs: between(200, 2_500) };
    }
    case "logTrouble": {
      const rate = () => pick([0, 0, 0.05, 0.2]);
      const mostDelayMs = pick([2, 20, 80]);
      const lost = { ghosts: rate(), lostRequests: rate(), lostReplies: rate() };
      const staleReads = pick([0, 0.3]);
      // One trouble after another could show an audit the same old answer twice.
      const shown = shape.profile.losesLog ? 0 : staleReads;
      return {
        atMs,
        kind,
        rates: { ...lost, refusals: rate(), staleReads: shown, mostDelayMs },
        forMs: between(200, 2_500),
      };
    }
    case "usurp":
      return { atMs, kind, process: pick(replicas), partition };
    case "handOver":
      return { atMs, kind, partition, to: pick(replicas) };
    case "snapshotsDown":
      return { atMs, kind, forMs: between(100, 1_500) };
    case "compact":
      return { atMs, kind, partition };
    case "loseLog":
      return { atMs, kind, messages: between(1, 12) };
  }
}

/** What can go wrong; what is here twice goes wrong twice as often. */
const kinds = [
  "crash",
  "crash",
  "pause",
  "pause",
  "suspend",
  "jumpWall",
  "partition",
  "partition",
  "isolate",
  "isolate",
  "crashAll",
  "cutLog",
  "failOver",
  "weather",
  "weather",
  "logTrouble",
  "logTrouble",
  "usurp",
  "usurp",
  "handOver",
  "snapshotsDown",
  "compact",
  "compact",
] as const satisfies readonly Incident["kind"][];

/** One line for each incident, for people. */
export function describeIncident(incident: Incident): string {
  const { atMs, kind, ...rest } = incident;
  return `${String(atMs).padStart(5)} ms  ${kind} ${JSON.stringify(rest)}`;
}
