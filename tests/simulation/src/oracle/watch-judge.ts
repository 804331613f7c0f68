import type { Event } from "@tenure/core";
import type { AppliedBatch } from "@tenure/lease-store/replica";
import type { ReplicaNode } from "../store/replica-node.ts";
import type { LogRecord } from "./log-record.ts";
import { demand } from "./violation.ts";

/**
 * Follows what each replica tells its watchers: every batch once, in the order of the log, with the events that the log
 * has; a gap only after the mark that the state was loaded anew (I17, I18).
 */
export class WatchJudge {
  readonly #logs: readonly LogRecord[];
  readonly #told = new Map<string, bigint>();
  /** Batches that were told. */
  told = 0;

  constructor(logs: readonly LogRecord[]) {
    this.#logs = logs;
  }

  applied(node: ReplicaNode, { events, partition, sequence }: AppliedBatch): void {
    const key = `${node.instance}/${partition}`;
    const last = this.#told.get(key);
    const batch = this.#logs[partition]?.batchAt(sequence);
    const what = `${node.instance} told its watchers batch ${sequence} of partition ${partition}`;
    demand(batch !== undefined, "I17", () => `${what}, which is not in the log`);
    demand(last === undefined || sequence > last, "I17", () => `${what} after ${last}`);
    demand(last === undefined || batch.prev === last, "I18", () => `${what} without what lies between it and ${last}`);
    const isSame = digest(events) === digest(batch.events);
    demand(
      isSame,
      "I17",
      () => `${what} with other events than the log: ${digest(events)}, not ${digest(batch.events)}`,
    );
    this.#told.set(key, sequence);
    this.told += 1;
  }

  /** The replica told its watchers to start over from what it has loaded. */
  reloaded(node: ReplicaNode, partition: number): void {
    this.#told.set(`${node.instance}/${partition}`, node.replica.at(partition).state.lastSequence);
  }
}

/** What the events are about, in order; renewals are apart, since their place in a batch does not matter. */
function digest(events: readonly Event[]): string {
  const renewals = events.flatMap((event) => (event.kind === "renewed" ? event.holdIds : []));
  const others = events.map((event) =>
    event.kind === "renewed" ? "" : `${event.kind} ${"lease" in event ? event.lease : ""}`,
  );
  return `${others.filter((line) => line !== "").join(",")}|${renewals.sort().join(",")}`;
}
