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
import type { SourceOfRenewals } from "../command/packed-commands.ts";
import { refusalFault } from "./answer.ts";

/**
 * Bytes of refusals and named successors that are told in full. Beyond them a refusal has its code, its reason and its
 * certainty, about 45 bytes, and an ending term its id, so that as many of either as a call may carry (16,384) fit into
 * one message of the bus (1 MiB) with the rest.
 */
const fullBytes = 131_072;

/**
 * The answer to StoreService.Renew: one result for each source, in their order. `results` is what became of their
 * groups, one after the other. `revision` is the log position of the commit; it stands for all of them, and is 0 when
 * nothing was committed. When very many are refused or end, only the first refusals have a text and the first endings a
 * successor.
 */
export function storeRenewResponse(
  partition: number,
  sources: readonly SourceOfRenewals[],
  results: readonly PackedResult[],
  revision: bigint,
): StoreServiceRenewResponse {
  const told = { bytes: 0 };
  let place = 0;
  const answers = sources.map(({ groups, packed }) => {
    const from = place;
    place += groups.length;
    // What was asked for is what was done, and there is one way to say it.
    if (isAllRenewed(groups, results, from)) return { acks: packed, refusals: [], endings: [] };
    return sourceResult(partition, groups, results.slice(from, place), told);
  });
  const isAny = results.some(({ renewed }) => renewed.length > 0);
  return { results: answers, renewalRevision: isAny ? revision : 0n };
}

/** Whether every renewal of these groups was made and nobody is asked to finish. */
function isAllRenewed(groups: readonly PackedRenewal[], results: readonly PackedResult[], from: number): boolean {
  return groups.every(({ holdIds }, index) => {
    const result = results[from + index];
    if (result === undefined) throw new Error("a group of renewals has no result");
    return result.renewed.length === holdIds.length && result.ending.length === 0;
  });
}

function sourceResult(
  partition: number,
  groups: readonly PackedRenewal[],
  results: readonly PackedResult[],
  told: { bytes: number },
): RenewalSourceResult {
  const acked: RenewalGroup[] = [];
  const refusals: PackedRefusal[] = [];
  const endings: EndingHold[] = [];
  results.forEach(({ ending, refused, renewed }, index) => {
    const sendNumber = groups[index]?.sendNumber ?? 0n;
    if (renewed.length > 0) acked.push({ partition, sendNumber: Number(sendNumber), holdIds: renewed });
    for (const { holdId, successor } of ending) {
      const hasRoom = hasRoomFor(told, Buffer.byteLength(successor));
      endings.push({ holdId: BigInt(holdId), successor: hasRoom ? successor : "" });
    }
    for (const { holdId, refusal } of refused) {
      refusals.push({ holdId: BigInt(holdId), partition, sendNumber, failure: failureOf(refusal, told) });
    }
  });
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
