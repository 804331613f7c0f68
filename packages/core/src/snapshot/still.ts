import { copyOfLease } from "../apply/before-images.ts";
import type { Event } from "../partition/event.ts";
import type { ClientWindow } from "../partition/outcome.ts";
import type { PartitionState } from "../partition/state.ts";
import type { LeaseRecord } from "../record/lease.ts";

type Header = Pick<
  PartitionState,
  | "partition"
  | "epoch"
  | "owner"
  | "successor"
  | "epochStart"
  | "owesPause"
  | "lastSequence"
  | "lastBatchId"
  | "nextId"
  | "settings"
  | "recovery"
  | "snapshot"
>;

/**
 * A partition as it is at one instant, while the state goes on: what `apply` is about to change is copied first. Taking
 * it costs as much as copying lists of references; each record that changes meanwhile costs one copy.
 */
export class StillPartition {
  readonly header: Readonly<Header>;
  /** In the state's order; see {@link of} for what each was at the instant. */
  readonly leases: readonly LeaseRecord[];
  readonly clients: readonly (readonly [client: string, window: ClientWindow])[];
  readonly retiredClients: readonly (readonly [client: string, floor: bigint])[];
  readonly #copies = new Map<LeaseRecord, LeaseRecord>();

  /** No batch may be open. */
  constructor(state: PartitionState) {
    this.header = { ...state };
    this.leases = [...state.leases.values()];
    this.clients = Array.from(state.clients, ([client, { floor, outcomes }]) => [
      client,
      { floor, outcomes: [...outcomes] },
    ]);
    this.retiredClients = [...state.retiredClients];
  }

  /** What a record was at the instant. */
  of(record: LeaseRecord): LeaseRecord {
    return this.#copies.get(record) ?? record;
  }

  /** Called before an event is applied. */
  note({ holds, leases }: PartitionState, event: Event): void {
    if (event.kind === "renewed") {
      for (const holdId of event.holdIds) this.#keep(holds.get(holdId)?.lease);
    } else if ("lease" in event) this.#keep(leases.get(event.lease));
  }

  #keep(record: LeaseRecord | undefined): void {
    if (record !== undefined && !this.#copies.has(record)) this.#copies.set(record, copyOf(record));
  }
}

/** A copy that no later event reaches: what `apply` replaces is shared, what it changes in place is copied. */
function copyOf(record: LeaseRecord): LeaseRecord {
  const copy = copyOfLease(record);
  if (record.candidates !== undefined) {
    copy.candidates = new Map(Array.from(record.candidates, ([name, candidate]) => [name, { ...candidate }]));
  }
  if (record.guarded !== undefined) copy.guarded = new Map(record.guarded);
  return copy;
}
