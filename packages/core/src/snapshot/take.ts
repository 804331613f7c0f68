import type { ClientWindow, OutcomeFacts } from "../partition/outcome.ts";
import type { PartitionState } from "../partition/state.ts";
import { openSequence, type Position } from "../record/position.ts";
import { byKey, type Place } from "./order.ts";
import { collectPositions } from "./positions.ts";
import { storeLease } from "./store-lease.ts";
import type { PartitionSnapshot, StoredClient, StoredPosition } from "./types.ts";

/**
 * The state as plain data. No batch may be open: what is not acknowledged has no place in a snapshot, and asking for it
 * is a mistake of the caller.
 */
export function takeSnapshot(state: PartitionState): PartitionSnapshot {
  const { places, positions } = numberPositions(state);
  const place: Place = ({ sequence }) => places.get(sequence) ?? 0;
  const { recovery } = state;
  return {
    formatVersion: 1,
    partition: state.partition,
    sequence: state.lastSequence,
    epoch: state.epoch,
    owner: state.owner,
    successor: state.successor,
    epochStart: place(state.epochStart),
    nextId: state.nextId,
    settings: state.settings,
    recovery: recovery && { from: place(recovery.from), holdOffMs: recovery.holdOffMs },
    snapshot: state.snapshot,
    positions,
    leases: [...state.leases.values()].sort(byKey).map((record) => storeLease(record, place)),
    clients: [...state.clients].map(([client, window]) => storeClient(client, window, place)),
    retiredClients: [...state.retiredClients].map(([client, floor]) => ({ client, floor })),
  };
}

function numberPositions(state: PartitionState) {
  const bySequence = new Map<bigint, Position>();
  for (const position of collectPositions(state)) {
    const isOpen = position.sequence === openSequence && position !== state.epochStart;
    if (isOpen) throw new Error(`partition ${state.partition} has an open batch after ${state.lastSequence}`);
    bySequence.set(position.sequence, position);
  }
  const ordered = [...bySequence.values()].sort((left, right) => (left.sequence < right.sequence ? -1 : 1));
  const positions: StoredPosition[] = ordered.map(({ sequence, wallMs }) => ({ sequence, wallMs }));
  return { positions, places: new Map(ordered.map(({ sequence }, index) => [sequence, index])) };
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
