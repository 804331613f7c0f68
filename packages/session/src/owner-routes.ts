import { partitionRoute } from "@tenure/bus";

/** Told that a partition has another owner. */
export type RouteListener = (partition: number, epoch: bigint) => void;

interface Route {
  readonly epoch: bigint;
  readonly text: string;
}

/**
 * Which owner answers for a partition now, as far as this process knows. A wrong or missing entry costs a detour and
 * never does harm: an owner that has been replaced cannot commit anything.
 */
export class OwnerRoutes {
  readonly #routes: (Route | undefined)[] = [];
  readonly #highest: bigint[] = [];
  readonly #listeners = new Set<RouteListener>();
  readonly #known: Promise<void>;
  #onKnown: () => void = () => {};
  #partitions: number | undefined;

  /** `partitions` as the incarnation says; callers who may not read it learn it from the owners' beats. */
  constructor(partitions?: number) {
    this.#known = new Promise((resolve) => {
      this.#onKnown = resolve;
    });
    if (partitions !== undefined) this.setPartitions(partitions);
  }

  /** How many partitions there are; undefined while that is not known. */
  get partitions(): number | undefined {
    return this.#partitions;
  }

  /** Says how many partitions there are. The number never changes while a deployment lives. */
  setPartitions(partitions: number): void {
    this.#partitions = partitions;
    this.#onKnown();
  }

  /** Resolves when the number of partitions is known: from then on calls are routed by their key. */
  whenKnown(): Promise<void> {
    return this.#known;
  }

  /** The route of a partition's owner, `<partition>.<epoch>`; undefined while nobody is known. */
  routeOf(partition: number): string | undefined {
    return this.#routes[partition]?.text;
  }

  /** The number of a partition's ownership; undefined while nobody is known. */
  epochOf(partition: number): bigint | undefined {
    return this.#routes[partition]?.epoch;
  }

  /** The partition has this owner, or a later one. A lower number than one heard of before is old news. */
  note(partition: number, epoch: bigint): void {
    const highest = this.#highest[partition] ?? 0n;
    if (epoch <= 0n || epoch < highest || this.#routes[partition]?.epoch === epoch) return;
    this.#routes[partition] = { epoch, text: partitionRoute(partition, epoch) };
    this.#highest[partition] = epoch;
    if (epoch === highest) return;
    for (const listener of [...this.#listeners]) listener(partition, epoch);
  }

  /** That owner does not answer: it is not called until it is heard of again. */
  drop(partition: number, epoch: bigint): void {
    if (this.#routes[partition]?.epoch === epoch) this.#routes[partition] = undefined;
  }

  /** Tells of every later change of an owner; returns what ends that. */
  onChange(listener: RouteListener): () => void {
    const own: RouteListener = (partition, epoch) => listener(partition, epoch);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }
}
