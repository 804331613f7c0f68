import type { CommandHeader, Attempt as CoreAttempt } from "@tenure/core";
import { byteLength } from "@tenure/core";
import type { Attempt, ChangeNote } from "../../gen/tenure/v1/attempt.ts";
import { type Reading, shown } from "../reading.ts";

/** A type whose properties may be set one after the other while a value is made. */
export type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** What requests say beside what they ask for. */
export interface Asked {
  readonly attempt: Attempt | undefined;
  readonly note?: ChangeNote | undefined;
  readonly dryRun?: boolean;
  /** Where the reason stands, if it is not the note's. */
  readonly reasonField?: string;
}

/** What a client may call itself. */
export const clientIdPattern = /^[A-Za-z0-9._-]{1,128}$/;
const maximumReasonBytes = 512;
/** What a plain number holds exactly; numbers that travel in packed form must not be higher. */
const maximumSendNumber = 2n ** 53n - 1n;

/** Adds what every command carries to a command that is being made. */
export function addHeader<C extends CommandHeader>(
  reading: Reading,
  command: Draft<C>,
  { attempt, dryRun, note, reasonField = "note.reason" }: Asked,
): void {
  if (attempt !== undefined) command.attempt = readAttempt(reading, attempt);
  if (note !== undefined && note.reason !== "") command.reason = readReason(reading, reasonField, note.reason);
  if (dryRun === true) command.isDryRun = true;
}

function readAttempt(reading: Reading, { clientId, number, settledBelow }: Attempt): CoreAttempt {
  if (!clientIdPattern.test(clientId)) {
    reading.reject("attempt.client_id", "must be 1 to 128 bytes of [A-Za-z0-9._-]", shown(clientId));
  }
  if (number === 0n) reading.reject("attempt.number", "must be above 0", "0");
  return { clientId, number, settledBelow };
}

function readReason(reading: Reading, field: string, reason: string): string {
  const size = byteLength(reason);
  if (size > maximumReasonBytes) {
    reading.reject(field, `must be at most ${maximumReasonBytes} bytes`, `${size} bytes`);
  }
  return reason;
}

/** Rejects a change that must say why and does not. */
export function requireReason(reading: Reading, note: ChangeNote | undefined): void {
  if (note === undefined || note.reason.trim() === "") reading.reject("note.reason", "is required", "absent");
}

/**
 * Rejects a send number that packed forms could not carry. `place` is that of the list's entry that has it; its path is
 * spelled only when it is needed.
 */
export function readSendNumber(reading: Reading, field: string, sendNumber: bigint, place?: number): bigint {
  if (sendNumber > maximumSendNumber) {
    const path = place === undefined ? field : `${field}[${place}].send_number`;
    reading.reject(path, "must be below 2^53", String(sendNumber));
  }
  return sendNumber;
}

/** Rejects a list whose length is out of bounds. */
export function requireCount(
  reading: Reading,
  field: string,
  items: readonly unknown[],
  least: number,
  most: number,
): void {
  if (items.length >= least && items.length <= most) return;
  reading.reject(field, `must have ${least} to ${most} entries`, String(items.length));
}
