import type { Event, HoldEvent } from "@tenure/core";
import { decodeRenewals, encodeRenewals, type RenewalGroup } from "../../renewal-pack.ts";

type Renewed = Extract<HoldEvent, { readonly kind: "renewed" }>;

/** What one group of the packed form takes at most. */
const mostHoldsPerGroup = 65_536;

/**
 * The renewals of a batch in packed form: one group for each send number, in the order in which the numbers first
 * occur, with its hold ids in order. Who renewed is not kept: it is the holder, and no rule reads it.
 */
export function packRenewals(partition: number, events: readonly Renewed[]): Uint8Array {
  const bySend = new Map<bigint, number[]>();
  for (const { holdIds, sendNumber } of events) {
    const known = bySend.get(sendNumber);
    if (known === undefined) bySend.set(sendNumber, [...holdIds]);
    else for (const holdId of holdIds) known.push(holdId);
  }
  const groups: RenewalGroup[] = [];
  for (const [sendNumber, holdIds] of bySend) {
    const ordered = ascending(holdIds);
    for (let from = 0; from < ordered.length; from += mostHoldsPerGroup) {
      const part = ordered.length <= mostHoldsPerGroup ? ordered : ordered.slice(from, from + mostHoldsPerGroup);
      groups.push({ partition, sendNumber: Number(sendNumber), holdIds: part });
    }
  }
  return encodeRenewals(groups);
}

/** Each once and in order; the same array if it is so already, which is how clients send them. */
function ascending(holdIds: number[]): number[] {
  for (let index = 1; index < holdIds.length; index++) {
    if ((holdIds[index] ?? 0) > (holdIds[index - 1] ?? 0)) continue;
    return [...new Set(holdIds)].sort((left, right) => left - right);
  }
  return holdIds;
}

/** The renewals of a batch as events: one for each group. Malformed bytes throw. */
export function unpackRenewals(bytes: Uint8Array): readonly Event[] {
  return decodeRenewals(bytes).map(({ holdIds, sendNumber }): Event => {
    return { kind: "renewed", holdIds, sendNumber: BigInt(sendNumber), author: "", reason: "" };
  });
}
