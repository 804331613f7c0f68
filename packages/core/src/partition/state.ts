import type { BeforeImages } from "../apply/before-images.ts";
import type { LastRead } from "../follow.ts";
import type { LeaseKey } from "../key.ts";
import { LeaseRecord } from "../record/lease.ts";
import { originPosition, type Position } from "../record/position.ts";
import type { StillPartition } from "../snapshot/still.ts";
import type { SnapshotReference } from "./event.ts";
import { HoldIndex } from "./hold-index.ts";
import type { ClientWindow } from "./outcome.ts";
import { defaultSettings, type Settings } from "./settings.ts";

/**
 * Everything that a partition's log says, in memory. The same on every replica that applied the same batches, except
 * for the instants in positions, which are each replica's own. Mutated only by `apply`; read by everyone.
 */
export interface PartitionState {
  readonly partition: number;
  /** The number of the present ownership; 0 before the first owner. */
  epoch: bigint;
  owner: string;
  /** To whom the owner has handed over; empty while it goes on. */
  successor: string;
  /** Whether it handed over before holders had their time to renew after an outage (rule 17). */
  owesPause: boolean;
  /** The batch that began the epoch; it grants nothing. */
  epochStart: Position;
  /** Sequence of the last applied batch, and the `prev` of the next. */
  lastSequence: bigint;
  /** Its id, which the next batch names; empty before the first. */
  lastBatchId: string;
  /** No uid or hold id below this is free. */
  nextId: number;
  settings: Settings;
  /** After a restore nothing is granted for a while (rule 5). */
  recovery: { readonly from: Position; readonly holdOffMs: number } | undefined;
  /** The latest announced snapshot. */
  snapshot: SnapshotReference | undefined;
  readonly leases: Map<LeaseKey, LeaseRecord>;
  readonly holds: HoldIndex;
  /** How many leases exist in each namespace. */
  readonly namespaces: Map<string, number>;
  /** What is remembered of clients, least recently changed first. */
  readonly clients: Map<string, ClientWindow>;
  /** The client that is last in `clients`, if this replica has put it there. Not replicated. */
  newestClient: string | undefined;
  /** Clients whose outcomes are gone, with the lowest attempt number that may still be new; oldest first. */
  readonly retiredClients: Map<string, bigint>;
  /** The last batch that this replica had read when it loaded the state: the log must still have it. Not replicated. */
  lastRead: LastRead | undefined;
  /** One copy of each principal's and holder's name, however often the log spells it. Not replicated. */
  readonly texts: Map<string, string>;
  /** Where `apply` keeps what records were before the open batch, for who shows the past. Not replicated. */
  before: BeforeImages | undefined;
  /** Where `apply` keeps what records were when a snapshot began that is still being taken. Not replicated. */
  still: StillPartition | undefined;
}

/** The state before the first batch. */
export function emptyPartition(partition: number, seenAtMs: number): PartitionState {
  return {
    partition,
    epoch: 0n,
    owner: "",
    successor: "",
    owesPause: false,
    epochStart: originPosition(seenAtMs),
    lastSequence: 0n,
    lastBatchId: "",
    nextId: 1,
    settings: defaultSettings,
    recovery: undefined,
    snapshot: undefined,
    leases: new Map(),
    holds: new HoldIndex(),
    namespaces: new Map(),
    clients: new Map(),
    newestClient: undefined,
    retiredClients: new Map(),
    lastRead: undefined,
    texts: new Map(),
    before: undefined,
    still: undefined,
  };
}

/** Most texts that are kept to be shared; beyond it the table starts anew, which only costs memory. */
const maximumTexts = 10_000;

/** The copy of a text that records share: a deployment has few principals and holders, and many terms. */
export function intern({ texts }: PartitionState, text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  if (texts.size >= maximumTexts) texts.clear();
  texts.set(text, text);
  return text;
}

/** The record of a name, made if nothing is known of it. */
export function ensureRecord(state: PartitionState, key: LeaseKey, position: Position): LeaseRecord {
  const known = state.leases.get(key);
  if (known !== undefined) return known;
  const record = new LeaseRecord(key, position);
  state.leases.set(key, record);
  return record;
}

/** The record of a lease that exists and is not deleted; undefined otherwise. */
export function existingLease(state: PartitionState, key: LeaseKey): LeaseRecord | undefined {
  const record = state.leases.get(key);
  return record?.created !== undefined && record.deletion === undefined ? record : undefined;
}
