import { clientKey, type PackedRenewal, waiterId } from "@tenure/core";
import { type Fault, toFault } from "@tenure/kernel";
import type {
  RenewalSource,
  StoreServiceBeatRequest,
  StoreServiceRenewRequest,
} from "../../gen/tenure/store/v1/store.ts";
import { decodeRenewals } from "../../renewal-pack.ts";
import { Reading } from "../reading.ts";
import { KnownBytes } from "../value/known-bytes.ts";
import { hexOf } from "../value/text.ts";
import { readSendNumber, requireCount } from "./header.ts";

const mostSources = 5_000;
const mostBeats = 5_000;
const sha256Bytes = 32;

/** Renewals of one client: as they came, and as core takes them. */
export interface SourceOfRenewals {
  readonly packed: Uint8Array;
  readonly groups: readonly PackedRenewal[];
}

/**
 * StoreService.Renew as core takes it: for each source, in order, its groups of renewals. Groups of another partition
 * than the one that is asked are refused with the whole request: their sender routes by an old map.
 */
export function packedRenewals(
  request: StoreServiceRenewRequest,
  partition: number,
): readonly SourceOfRenewals[] | Fault {
  const reading = new Reading();
  requireCount(reading, "sources", request.sources, 0, mostSources);
  const sources = request.sources.map((source, place) => readSource(reading, source, place, partition));
  return reading.refusal() ?? sources;
}

function readSource(
  reading: Reading,
  { principal, renewKeyHash, renewals }: RenewalSource,
  place: number,
  partition: number,
): SourceOfRenewals {
  if (renewKeyHash.length !== 0 && renewKeyHash.length !== sha256Bytes) {
    const rule = `must be empty or have ${sha256Bytes} bytes`;
    reading.reject(`sources[${place}].renew_key_hash`, rule, `${renewKeyHash.length} bytes`);
  }
  const secret = renewKeyHash.length === 0 ? undefined : hashes.of(renewKeyHash, 0, renewKeyHash.length);
  const groups = readGroups(reading, renewals, place).map(({ holdIds, partition: named, sendNumber }) => {
    if (named !== partition) {
      reading.reject(`sources[${place}].renewals`, `must be of partition ${partition}`, String(named));
    }
    const number = BigInt(sendNumber);
    if (secret === undefined) return { principal, holdIds, sendNumber: number };
    return { principal, renewKeyHash: secret, holdIds, sendNumber: number };
  });
  return { packed: renewals, groups };
}

/** Clients show the same secret with every renewal. */
const hashes = new KnownBytes((bytes, from, to) => hexOf(bytes.subarray(from, to)));

function readGroups(reading: Reading, renewals: Uint8Array, place: number) {
  try {
    return decodeRenewals(renewals);
  } catch (thrown) {
    reading.reject(`sources[${place}].renewals`, toFault(thrown).message, `${renewals.length} bytes`);
    return [];
  }
}

/** The newest beat of one wait, as the owner's queue names it. */
export interface BeatOfWait {
  readonly waiterId: string;
  readonly beatNumber: bigint;
}

/** StoreService.Beat as the owner's queue takes it, in the order of the request. */
export function waitBeats(request: StoreServiceBeatRequest): readonly BeatOfWait[] | Fault {
  const reading = new Reading();
  requireCount(reading, "beats", request.beats, 0, mostBeats);
  const beats = request.beats.map(({ attemptNumber, clientId, principal, sendNumber }, place) => ({
    waiterId: waiterId(clientKey(principal, clientId), attemptNumber),
    beatNumber: readSendNumber(reading, "beats", sendNumber, place),
  }));
  return reading.refusal() ?? beats;
}
