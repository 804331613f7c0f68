import { LeaseCounts } from "@tenure/contracts";
import { isIdentityLease, type LeaseRecord, nameOf, namespaceOf, type PartitionState } from "@tenure/core";
import type { Clock } from "@tenure/kernel";
import { type LeaseStanding, standingOf } from "./lease-standing.ts";

/** Records that are looked at in one go: about a millisecond, since sessions wait meanwhile. */
export const recordsAtOnce = 5_000;
/** More names than this do not fit on a screen. */
const mostNames = 10;

/** Leases by state, counted now. */
export async function countLeases(partitions: Iterable<PartitionState>, clock: Clock): Promise<LeaseCounts> {
  const tally = new Tally();
  let seen = 0;
  for (const { leases } of partitions) {
    for (const record of leases.values()) {
      seen += 1;
      if (seen % recordsAtOnce === 0) await clock.sleep(0);
      if (record.created !== undefined && isIdentityLease(record.key)) tally.identities += 1;
      const standing = standingOf(record, clock.now());
      if (standing !== undefined) tally.add(record, standing);
    }
  }
  return tally.counts;
}

class Tally {
  identities = 0;
  #held = 0;
  #free = 0;
  #ending = 0;
  #candidates = 0;
  #leaderless = 0;
  readonly #leaderlessNames: string[] = [];

  add({ candidates, key }: LeaseRecord, standing: LeaseStanding): void {
    if (standing === "deleted") return;
    this.#candidates += candidates?.size ?? 0;
    if (standing === "ending") this.#ending += 1;
    if (standing === "held" || standing === "ending") {
      this.#held += 1;
      return;
    }
    this.#free += 1;
    if (standing !== "leaderless") return;
    this.#leaderless += 1;
    if (this.#leaderlessNames.length < mostNames) this.#leaderlessNames.push(`${namespaceOf(key)}/${nameOf(key)}`);
  }

  get counts(): LeaseCounts {
    return LeaseCounts.fromPartial({
      total: BigInt(this.#held + this.#free),
      held: BigInt(this.#held),
      free: BigInt(this.#free),
      ending: BigInt(this.#ending),
      candidates: BigInt(this.#candidates),
      identities: BigInt(this.identities),
      leaderless: BigInt(this.#leaderless),
      leaderlessNames: this.#leaderlessNames,
    });
  }
}
