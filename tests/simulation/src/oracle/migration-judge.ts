import type { Eligibility, Event, Participant } from "@tenure/core";
import { unlessHeldPrefix } from "../actors/migrator.ts";
import { livenessBoundMs } from "../store/timing.ts";
import { demand } from "./violation.ts";

/** Judges who holds migration locks, by the configurations in the log and a comparison of its own (rule 24). */
export class MigrationJudge {
  readonly #eligibility = new Map<string, Eligibility | undefined>();
  /** The digests that holders of locks run with, by lease. */
  readonly #held = new Map<string, string>();
  /** Locks that somebody was chosen for who has not accepted. */
  readonly #chosen = new Set<string>();

  /** The digest of the configuration in force; empty while there is none. */
  digestOf(lease: string): string {
    return this.#eligibility.get(lease)?.configurationDigest ?? "";
  }

  judge(event: Event): void {
    if (event.kind === "migrationChanged") this.#change(event.lease, event.eligibility);
    if (event.kind === "holdPending") this.#chosen.add(event.lease);
    // A deletion takes back the choice, and not the term.
    const isTakenBack = event.kind === "leaseDeleted" && event.isRemoved;
    if (isTakenBack || event.kind === "pendingLapsed") this.#chosen.delete(event.lease);
    if (event.kind === "holdEnded") this.#held.delete(event.lease);
    if (event.kind !== "holdGranted") return;
    const { details, holder } = event.hold;
    this.#chosen.delete(event.lease);
    this.#held.set(event.lease, details?.participant?.configurationDigest ?? "");
    const { component = "none", version = "" } = details?.participant ?? {};
    const configuration = this.#eligibility.get(event.lease)?.configuration;
    const what = () => `${event.lease} was given to ${holder} (${component} ${version}) against ${configuration}`;
    demand(this.#mayHold(event.lease, details?.participant), "rule 24", what);
  }

  /** When things are quiet, somebody who may hold the lock does, or has just done so. */
  expectRun(lease: string, participants: readonly Participant[], quietMs: number): void {
    const able = participants.find((participant) => this.#mayHold(lease, participant));
    const isRunning = able === undefined || quietMs <= livenessBoundMs;
    demand(isRunning, "I26", () => `${able?.component} ${able?.version} could run under ${lease}, and nobody does`);
  }

  /** One that changes the controllers of a lock finds it free, or held by who runs with it already. */
  #change(lease: string, eligibility: Eligibility | undefined): void {
    const { configuration = "", configurationDigest } = eligibility ?? {};
    const isFree = !this.#held.has(lease) && !this.#chosen.has(lease);
    const isKept =
      !configuration.startsWith(unlessHeldPrefix) || isFree || this.#held.get(lease) === configurationDigest;
    demand(isKept, "immutable", () => `${configuration} was put on ${lease}, which is held with another`);
    this.#eligibility.set(lease, eligibility);
  }

  #mayHold(lease: string, participant: Participant | undefined): boolean {
    const eligibility = this.#eligibility.get(lease);
    if (eligibility === undefined) return true;
    const { component = "", configurationDigest = "", version = "" } = participant ?? {};
    if (configurationDigest !== eligibility.configurationDigest) return false;
    return eligibility.components.some(({ name, versionRange }) => {
      return component !== "" && (name === component || name === "*") && isIn(version, versionRange);
    });
  }
}

/** The ranges of the world have one bound, and its versions small numbers. */
function isIn(version: string, range: string): boolean {
  const numberOf = (text: string) => text.split(".").reduce((sum, part) => sum * 1_000 + Number(part), 0);
  if (range === "") return true;
  return range.startsWith(">=")
    ? numberOf(version) >= numberOf(range.slice(2))
    : numberOf(version) < numberOf(range.slice(1));
}
