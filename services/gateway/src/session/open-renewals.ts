import { encodeRenewals } from "@tenure/contracts";
import { packedGroups } from "@tenure/session";

/** Greater send numbers do not fit into packed renewals. */
const greatestPacked = BigInt(Number.MAX_SAFE_INTEGER);

/** Renewals of one stream that travel packed, each known by its term and send number until its owner has answered. */
export class OpenRenewals<Item> {
  readonly #open = new Map<string, Item>();
  #groups = new Map<string, { partition: number; sendNumber: number; holdIds: number[] }>();

  /** Those without an answer. */
  get size(): number {
    return this.#open.size;
  }

  /** Has one packed. False if its number is too great, or if one with its number is under way: what is answered is that. */
  add(item: Item, partition: number, holdId: number, sendNumber: bigint): boolean {
    const name = nameOf(partition, holdId, sendNumber);
    if (sendNumber > greatestPacked || this.#open.has(name)) return false;
    this.#open.set(name, item);
    const group = this.#groups.get(`${partition}.${sendNumber}`);
    if (group !== undefined) group.holdIds.push(holdId);
    else
      this.#groups.set(`${partition}.${sendNumber}`, { partition, sendNumber: Number(sendNumber), holdIds: [holdId] });
    return true;
  }

  /** What was added since the last time, packed. */
  pack(): ReturnType<typeof packedGroups> {
    const groups = [...this.#groups.values()];
    this.#groups = new Map();
    if (groups.length === 0) return [];
    const ascending = groups.map((group) => ({ ...group, holdIds: group.holdIds.sort((left, right) => left - right) }));
    return packedGroups(encodeRenewals(ascending));
  }

  /** One that was answered; undefined if nobody waits for it. */
  take(partition: number, holdId: number | bigint, sendNumber: number | bigint): Item | undefined {
    const name = nameOf(partition, holdId, sendNumber);
    const item = this.#open.get(name);
    this.#open.delete(name);
    return item;
  }
}

function nameOf(partition: number, holdId: number | bigint, sendNumber: number | bigint): string {
  return `${partition}.${holdId}.${sendNumber}`;
}
