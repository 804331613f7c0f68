import { hash32, type LeaseKey, leaseKey } from "@tenure/core";

/** The namespace of what the services hold for themselves. */
export const systemNamespace = "tenure-system";

/** The lease of a shard. All share the part before the colon, so one partition has them and one call renews them. */
export function shardLease(shard: number): LeaseKey {
  return leaseKey(systemNamespace, `election:${shard}`);
}

/** The shard of a lease. */
export function shardOf(lease: LeaseKey, shards: number): number {
  return hash32(lease) % shards;
}

/** What one replica sees of all shards. */
export interface ShardsView {
  readonly self: string;
  /** Replicas that are there, this one included. */
  readonly peers: readonly string[];
  /** Who holds each shard; empty if nobody does. */
  readonly holders: readonly string[];
  /** Since when a shard has been free, in ms; only of those that are. */
  readonly freeForMs: ReadonlyMap<number, number>;
}

/** What to do about them. */
export interface ShardMoves {
  readonly take: readonly number[];
  readonly give: readonly number[];
}

/** A shard that nobody takes for this long is taken by whoever sees it, whatever it has. */
const neglectedMs = 2_000;

/**
 * Which free shards to take and which to give away, so that every replica has about as many as the others. Two that
 * want the same one do no harm: the store gives it to one.
 */
export function shardMoves({ freeForMs, holders, peers, self }: ShardsView): ShardMoves {
  const counts = new Map(peers.map((peer) => [peer, 0]));
  for (const holder of holders) {
    const count = counts.get(holder);
    if (count !== undefined) counts.set(holder, count + 1);
  }
  const own = counts.get(self) ?? 0;
  const share = Math.ceil(holders.length / Math.max(1, peers.length));
  const free = rotated(
    [...freeForMs].map(([shard]) => shard),
    self,
  );
  const neglected = free.filter((shard) => (freeForMs.get(shard) ?? 0) >= neglectedMs);
  const take = new Set([...free.slice(0, Math.max(0, share - own)), ...neglected]);
  const isSomebodyShort = [...counts.values()].some((count) => count < Math.floor(holders.length / peers.length));
  const surplus = isSomebodyShort && free.length === 0 ? own - share : 0;
  const mine = holders.flatMap((holder, shard) => (holder === self ? [shard] : []));
  return { take: [...take], give: surplus > 0 ? mine.slice(-surplus) : [] };
}

/** Replicas begin at different places, so that they seldom want the same. */
function rotated(shards: readonly number[], self: string): readonly number[] {
  const from = shards.length === 0 ? 0 : hash32(self) % shards.length;
  return [...shards.slice(from), ...shards.slice(0, from)];
}
