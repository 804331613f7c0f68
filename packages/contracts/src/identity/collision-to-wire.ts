import { collisionOf, identityLabels, type LeaseRecord } from "@tenure/core";
import type { IdentityCollision } from "../gen/tenure/v1/identity_record.ts";
import { timestampFromMs } from "../timestamp.ts";
import { storedProfile } from "./stored-profile.ts";

/** How a takeover is noted in history, so that a collision can say who the other is. */
export function takeoverNote(host: string, processId: number): string {
  return `process ${processId} on ${host}`.slice(0, 500);
}

/** Who else claims an identity, as the API shows it; undefined while nobody does. */
export function collisionToWire(record: LeaseRecord, now: number): IdentityCollision | undefined {
  // Only a record that has changed hands twice can show one.
  if (record.transitions < 2) return undefined;
  const { beatIntervalMs } = storedProfile(record.spec, record.spec.labels[identityLabels.component] ?? "");
  const collision = collisionOf(record, beatIntervalMs, now);
  if (collision === undefined) return undefined;
  const { changes, otherHolder, seen } = collision;
  const note = record.history.findLast(({ holder, kind }) => kind === "granted" && holder === otherHolder);
  const [, processId = "0", otherHost = ""] = /^process (\d{1,9}) on (.*)$/s.exec(note?.details?.reason ?? "") ?? [];
  return { otherHost, otherProcessId: Number(processId), seenAt: timestampFromMs(seen.wallMs), changes };
}
