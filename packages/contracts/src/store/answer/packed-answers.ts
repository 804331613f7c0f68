import type { PackedRenewal, PackedResult, Refusal } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { failureFromFault } from "../../fault-codec.ts";
import type {
  EndingHold,
  RenewalSourceResult,
  StoreServiceBeatResponse,
  StoreServiceRenewResponse,
} from "../../gen/tenure/store/v1/store.ts";
import { CallFailure } from "../../gen/tenure/v1/error.ts";
import type { PackedRefusal } from "../../gen/tenure/v1/renewal.ts";
import { encodeRenewals, type RenewalGroup } from "../../renewal-pack.ts";
import { refusalFault } from "./answer.ts";

/** One group of a source's renewals and what became of it. */
export interface RenewedGroup {
  readonly request: PackedRenewal;
  readonly result: PackedResult;
}

/**
 * Bytes of refusals and named successors that are told in full. Beyond them a refusal has its code, its reason and its
 * certainty, about 45 bytes, and an ending term its id, so that as many of either as a call may carry (16,384) fit into
 * one message of the bus (1 MiB) with the rest.
 */
const fullBytes = 131_072;

/**
 * The answer to StoreService.Renew: one result for each source, in their order. `revision` is the log position of the
 * commit; it stands for all of them, and is 0 when nothing was committed. When very many are refused or end, only the
 * first refusals have a text and the first endings a successor.
 */
export function storeRenewResponse(
  partition: number,
  sources: readonly (readonly RenewedGroup[])[],
  revision: bigint,
): StoreServiceRenewResponse {
  const told = { bytes: 0 };
  const results = sources.map((groups) => sourceResult(partition, groups, told));
  const isAny = sources.some((groups) => groups.some(({ result }) => result.renewed.length > 0));
  return { results, renewalRevision: isAny ? revision : 0n };
}

function sourceResult(
  partition: number,
  groups: readonly RenewedGroup[],
  told: { bytes: number },
): RenewalSourceResult {
  const acked: RenewalGroup[] = [];
  const refusals: PackedRefusal[] = [];
  const endings: EndingHold[] = [];
  for (const { request, result } of groups) {
    const sendNumber = Number(request.sendNumber);
    if (result.renewed.length > 0) acked.push({ partition, sendNumber, holdIds: result.renewed });
    for (const { holdId, successor } of result.ending) {
      const hasRoom = hasRoomFor(told, Buffer.byteLength(successor));
      endings.push({ holdId: BigInt(holdId), successor: hasRoom ? successor : "" });
    }
    for (const { holdId, refusal } of result.refused) {
      const failure = failureOf(refusal, told);
      refusals.push({ holdId: BigInt(holdId), partition, sendNumber: request.sendNumber, failure });
    }
  }
  return { acks: encodeRenewals(acked), refusals, endings };
}

/** Counts what is told in full; false when the first bytes that did not fit have been met. */
function hasRoomFor(told: { bytes: number }, bytes: number): boolean {
  told.bytes += bytes;
  return told.bytes < fullBytes;
}

/** A refusal in full, as long as there is room for that. */
function failureOf(refusal: Refusal, told: { bytes: number }): CallFailure {
  const fault = refusalFault(refusal);
  const full = failureFromFault(fault);
  if (told.bytes < fullBytes && hasRoomFor(told, CallFailure.encode(full).finish().length)) return full;
  const { code, details, reason } = fault;
  const { applied } = details;
  return failureFromFault(new Fault({ code, reason, message: "", details: applied === undefined ? {} : { applied } }));
}

/** The answer to StoreService.Beat: the places of the beats whose wait this owner does not know. */
export function beatResponse(isKnown: readonly boolean[]): StoreServiceBeatResponse {
  return { unknown: isKnown.flatMap((known, place) => (known ? [] : [place])) };
}
