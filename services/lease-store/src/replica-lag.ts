import { type Bus, presenceWildcard } from "@tenure/bus";
import { ServiceStatus } from "@tenure/contracts";

/**
 * How far this replica is behind the others, as they say of themselves in their presence: the newest log position that
 * any of them has applied of a partition, against how far this one has read. What it hears is up to a second old, so a
 * replica that keeps up is never behind.
 */
export class ReplicaLag implements Disposable {
  readonly #newest = new Map<number, bigint>();
  readonly #unsubscribe: () => void;

  constructor(bus: Pick<Bus, "subscribe">, incarnationId: string) {
    this.#unsubscribe = bus.subscribe(presenceWildcard("lease-store"), (payload) => {
      const status = ServiceStatus.decode(payload);
      if (status.incarnationId !== incarnationId) return;
      for (const { appliedRevision, partition } of status.partitions) {
        if (appliedRevision > (this.#newest.get(partition) ?? 0n)) this.#newest.set(partition, appliedRevision);
      }
    });
  }

  /** Messages of the log that another has applied and this replica, which has read up to here, has not seen. */
  of(partition: number, readUpTo: bigint): bigint {
    const behind = (this.#newest.get(partition) ?? 0n) - readUpTo;
    return behind > 0n ? behind : 0n;
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }
}
