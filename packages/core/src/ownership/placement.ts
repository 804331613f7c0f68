import { hash32 } from "../hash.ts";

/**
 * Rendezvous hashing: every replica has its own weight for a partition, and the heaviest is where the partition belongs.
 * Whoever knows the same replicas comes to the same answer, in whatever order it learnt of them; a replica that goes
 * moves only its own partitions, and one that comes only those that it gets.
 */
export function rankReplicas(partition: number, instances: readonly string[]): readonly string[] {
  return [...new Set(instances)]
    .map((instance) => ({ instance, weight: hash32(`${partition}/${instance}`) }))
    .sort((a, b) => b.weight - a.weight || (a.instance < b.instance ? -1 : 1))
    .map(({ instance }) => instance);
}

/** The replica that a partition belongs to; undefined when there is none. */
export function desiredOwner(partition: number, instances: readonly string[]): string | undefined {
  return rankReplicas(partition, instances)[0];
}
