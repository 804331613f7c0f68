import { systemClock, systemRandom } from "@tenure/kernel";
import { BusLogReader } from "@tenure/reader";
import { Deployment, type DeploymentParts, startDeploymentOf, waitFor } from "@tenure/testkit";

/** Lease stores, and a reader of their log in this process. */
export class WatchedDeployment extends Deployment {
  readonly reader: BusLogReader;

  constructor(parts: DeploymentParts) {
    super(parts);
    const { bus, incarnation } = parts;
    const note = () => undefined;
    this.reader = new BusLogReader({
      bus,
      clock: systemClock,
      random: systemRandom,
      incarnation,
      keptChanges: 10_000,
      note,
    });
  }

  /** The replica that owns a partition, by what the log says. */
  override ownerOf(partition: number): string {
    return this.reader.stateOf(partition).owner;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.reader[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}

/** Starts lease stores `store-1` and so on; the reader has read their log. */
export async function startWatched(count: number, args: readonly string[] = []): Promise<WatchedDeployment> {
  const deployment = await startDeploymentOf(WatchedDeployment, {
    services: { "lease-store": count },
    args: { "lease-store": args },
    partitions: 4,
    // Short, because a caller of a replica that was killed waits for it; every change is tried again.
    calls: { deadlineMs: 3_000 },
  });
  await deployment.reader.start();
  await waitFor(() => deployment.reader.isReady, { describe: "the log to be read", timeoutMs: 60_000 });
  return deployment;
}
