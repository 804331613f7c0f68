import type { ClientWindow, OutcomeFacts } from "../partition/outcome.ts";
import type { PartitionState } from "../partition/state.ts";
import { openSequence, type Position } from "../record/position.ts";
import { finish, recordsPerStep, type Steps, sortInSteps } from "../steps.ts";
import { byKey, type Place } from "./order.ts";
import { positionsOf } from "./positions.ts";
import { StillPartition } from "./still.ts";
import { storeLease } from "./store-lease.ts";
import type { PartitionSnapshot, StoredClient, StoredLease, StoredPosition } from "./types.ts";

/**
 * The state as plain data. No batch may be open: what is not acknowledged has no place in a snapshot, and asking for it
 * is a mistake of the caller.
 */
export function takeSnapshot(state: PartitionState): PartitionSnapshot {
  return finish(store(new StillPartition(state)));
}

/**
 * As {@link takeSnapshot}, in steps: the snapshot shows the state as it is at the first of them, and batches may be
 * applied between them. One at a time for each state.
 */
export function* takeSnapshotInSteps(state: PartitionState): Steps<PartitionSnapshot> {
  const still = new StillPartition(state);
  state.still = still;
  try {
    return yield* store(still);
  } finally {
    state.still = undefined;
  }
}

function* store(still: StillPartition): Steps<PartitionSnapshot> {
  const { header } = still;
  const { recovery } = header;
  const { places, positions } = yield* numberPositions(still);
  const place: Place = ({ sequence }) => places.get(Number(sequence)) ?? 0;
  return {
    formatVersion: 1,
    partition: header.partition,
    sequence: header.lastSequence,
    batchId: header.lastBatchId,
    epoch: header.epoch,
    owner: header.owner,
    successor: header.successor,
    owesPause: header.owesPause,
    epochStart: place(header.epochStart),
    nextId: header.nextId,
    settings: header.settings,
    recovery: recovery && { from: place(recovery.from), holdOffMs: recovery.holdOffMs },
    snapshot: header.snapshot,
    positions,
    leases: yield* storeLeases(still, place),
    clients: still.clients.map(([client, window]) => storeClient(client, window, place)),
    retiredClients: still.retiredClients.map(([client, floor]) => ({ client, floor })),
  };
}

function* storeLeases(still: StillPartition, place: Place): Steps<readonly StoredLease[]> {
  const leases: StoredLease[] = [];
  for (const record of yield* sortInSteps(still.leases, byKey)) {
    leases.push(storeLease(still.of(record), place));
    if (leases.length % recordsPerStep === 0) yield;
  }
  return leases;
}

interface Numbered {
  readonly positions: readonly StoredPosition[];
  /** By sequence, which is below 2^53 (rule 5). */
  readonly places: ReadonlyMap<number, number>;
}

function* numberPositions(still: StillPartition): Steps<Numbered> {
  const { epochStart, lastSequence, partition, recovery } = still.header;
  const bySequence = new Map<number, Position>();
  let latest: Position | undefined;
  const add = (position: Position | undefined) => {
    // Most records name one position several times in a row.
    if (position === undefined || position === latest) return;
    latest = position;
    const isOpen = position.sequence === openSequence && position !== epochStart;
    if (isOpen) throw new Error(`partition ${partition} has an open batch after ${lastSequence}`);
    bySequence.set(Number(position.sequence), position);
  };
  add(epochStart);
  add(recovery?.from);
  let count = 0;
  for (const record of still.leases) {
    for (const position of positionsOf(still.of(record))) add(position);
    count += 1;
    if (count % recordsPerStep === 0) yield;
  }
  for (const [, { outcomes }] of still.clients) for (const { outcome } of outcomes) add(outcome.position);
  const ordered = yield* sortInSteps([...bySequence.entries()], ([left], [right]) => left - right);
  const positions = ordered.map(([, { sequence, wallMs }]) => ({ sequence, wallMs }));
  return { positions, places: new Map(ordered.map(([sequence], index) => [sequence, index])) };
}

function storeClient(client: string, { floor, outcomes }: ClientWindow, place: Place): StoredClient {
  return {
    client,
    floor,
    outcomes: outcomes.map(({ digest, number, outcome: { position, ...facts } }) => ({
      number,
      digest,
      outcome: facts as OutcomeFacts,
      position: position && place(position),
    })),
  };
}
