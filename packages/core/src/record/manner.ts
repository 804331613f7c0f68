import type { HoldDetails, HoldFacts } from "./hold.ts";

/** How a lease is held, which very many terms have in common: it is kept once for all of them. */
export type Manner = Pick<
  HoldFacts,
  "holderKey" | "principal" | "mode" | "units" | "origin" | "leaseDurationMs" | "lockDelayMs"
>;

/** Most manners and details that are kept to be shared; beyond it the table starts anew, which only costs memory. */
const maximumManners = 4_096;
const manners = new Map<string, Manner>();

/** The copy of a manner that terms share. A term whose manner is known already is given that very object. */
export function shareManner(facts: Manner): Manner {
  // Mostly it is that of the term before.
  if (lastManner !== undefined && isSameManner(lastManner, facts)) return lastManner;
  lastManner = findManner(facts);
  return lastManner;
}

let lastManner: Manner | undefined;

function isSameManner(one: Manner, other: Manner): boolean {
  return (
    one.leaseDurationMs === other.leaseDurationMs &&
    one.lockDelayMs === other.lockDelayMs &&
    one.units === other.units &&
    one.mode === other.mode &&
    one.origin === other.origin &&
    one.principal === other.principal &&
    one.holderKey === other.holderKey
  );
}

function findManner({ holderKey, leaseDurationMs, lockDelayMs, mode, origin, principal, units }: Manner): Manner {
  // No two manners have the same text: only the last two may hold a space, and a length tells them apart.
  const text = `${leaseDurationMs} ${lockDelayMs} ${units} ${mode} ${origin} ${principal.length} ${principal}${holderKey}`;
  const known = manners.get(text);
  if (known !== undefined) return known;
  if (manners.size >= maximumManners) manners.clear();
  const manner = Object.freeze({ holderKey, principal, mode, units, origin, leaseDurationMs, lockDelayMs });
  manners.set(text, manner);
  return manner;
}

const plainDetails = new Map<string, HoldDetails>();
let lastDetails: HoldDetails = {};

/** The copy of a term's details that terms share, if they are no more than what all terms of one client have. */
export function shareDetails(details: HoldDetails): HoldDetails {
  if (details === lastDetails) return details;
  for (const key in details) if (key !== "identity" && key !== "renewKeyHash") return details;
  const { identity, renewKeyHash } = details;
  // Mostly they are those of the term before.
  const isLast = lastDetails.identity === identity && lastDetails.renewKeyHash === renewKeyHash;
  if (!isLast) lastDetails = findDetails(details);
  return lastDetails;
}

function findDetails(details: HoldDetails): HoldDetails {
  const text = `${details.renewKeyHash} ${details.identity}`;
  const known = plainDetails.get(text);
  if (known !== undefined) return known;
  if (plainDetails.size >= maximumManners) plainDetails.clear();
  plainDetails.set(text, details);
  return details;
}
