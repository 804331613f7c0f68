import type { Eligibility, Event, Participant } from "@tenure/core";
import { livenessBoundMs } from "../store/timing.ts";
import { demand } from "./violation.ts";

/** Judges who holds migration locks, by the configurations in the log and a comparison of its own (rule 24). */
export class MigrationJudge {
  readonly #eligibility = new Map<string, Eligibility | undefined>();

  /** The digest of the configuration in force; empty while there is none. */
  digestOf(lease: string): string {
    return this.#eligibility.get(lease)?.configurationDigest ?? "";
  }

  judge(event: Event): void {
    if (event.kind === "migrationChanged") this.#eligibility.set(event.lease, event.eligibility);
    if (event.kind !== "holdGranted") return;
    const { details, holder } = event.hold;
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
