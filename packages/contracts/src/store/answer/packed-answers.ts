import type { PackedRenewal, PackedResult } from "@tenure/core";
import { failureFromFault } from "../../fault-codec.ts";
import type {
  EndingHold,
  RenewalSourceResult,
  StoreServiceBeatResponse,
  StoreServiceRenewResponse,
} from "../../gen/tenure/store/v1/store.ts";
import type { PackedRefusal } from "../../gen/tenure/v1/renewal.ts";
import { encodeRenewals, type RenewalGroup } from "../../renewal-pack.ts";
import { refusalFault } from "./answer.ts";

/** One group of a source's renewals and what became of it. */
export interface RenewedGroup {
  readonly request: PackedRenewal;
  readonly result: PackedResult;
}

/**
 * The answer to StoreService.Renew: one result for each source, in their order. `revision` is the log position of the
 * commit; it stands for all of them, and is 0 when nothing was committed.
 */
export function storeRenewResponse(
  partition: number,
  sources: readonly (readonly RenewedGroup[])[],
  revision: bigint,
): StoreServiceRenewResponse {
  const results = sources.map((groups) => sourceResult(partition, groups));
  const isAny = sources.some((groups) => groups.some(({ result }) => result.renewed.length > 0));
  return { results, renewalRevision: isAny ? revision : 0n };
}

function sourceResult(partition: number, groups: readonly RenewedGroup[]): RenewalSourceResult {
  const acked: RenewalGroup[] = [];
  const refusals: PackedRefusal[] = [];
  const endings: EndingHold[] = [];
  for (const { request, result } of groups) {
    const sendNumber = Number(request.sendNumber);
    if (result.renewed.length > 0) acked.push({ partition, sendNumber, holdIds: result.renewed });
    for (const { holdId, successor } of result.ending) endings.push({ holdId: BigInt(holdId), successor });
    for (const { holdId, refusal } of result.refused) {
      const failure = failureFromFault(refusalFault(refusal));
      refusals.push({ holdId: BigInt(holdId), partition, sendNumber: request.sendNumber, failure });
    }
  }
  return { acks: encodeRenewals(acked), refusals, endings };
}

/** The answer to StoreService.Beat: the places of the beats whose wait this owner does not know. */
export function beatResponse(isKnown: readonly boolean[]): StoreServiceBeatResponse {
  return { unknown: isKnown.flatMap((known, place) => (known ? [] : [place])) };
}
