import type { StoredClient } from "@tenure/core";
import type { SnapshotClient, SnapshotRetiredClients_Client } from "../../gen/tenure/log/v1/snapshot_record.ts";
import type { Reading } from "../reading.ts";
import { clientFromWire, clientToWire } from "../value/client.ts";
import { outcomeFromWire, outcomeToWire } from "../value/outcome.ts";
import { indexOf, placeOf } from "./place.ts";

/** How many retired clients one record takes. */
export const retiredClientsPerRecord = 1_024;

/** What is remembered of one client, in a snapshot. */
export function clientRecordToWire({ client, floor, outcomes }: StoredClient): SnapshotClient {
  const { clientId, principal } = clientToWire(client);
  const attempts = outcomes.map(({ digest, number, outcome, position }) => {
    return { number, digest, outcome: outcomeToWire(outcome), position: placeOf(position) };
  });
  return { clientId, principal, floor, attempts };
}

/** What is remembered of one client. */
export function clientRecordFromWire(reading: Reading, record: SnapshotClient): StoredClient {
  const outcomes = record.attempts.map(({ digest, number, outcome, position }) => {
    const facts = outcomeFromWire(reading, "client.outcome", outcome);
    return { number, digest, outcome: facts, position: indexOf(position) };
  });
  return { client: clientFromWire(record), floor: record.floor, outcomes };
}

/** A client whose outcomes are gone. */
export interface RetiredClient {
  readonly client: string;
  readonly floor: bigint;
}

/** A client whose outcomes are gone, in a snapshot. */
export function retiredClientToWire({ client, floor }: RetiredClient): SnapshotRetiredClients_Client {
  const { clientId, principal } = clientToWire(client);
  return { clientId, principal, floor };
}

/** A client whose outcomes are gone. */
export function retiredClientFromWire(record: SnapshotRetiredClients_Client): RetiredClient {
  return { client: clientFromWire(record), floor: record.floor };
}
