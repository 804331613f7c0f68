import { Fault } from "@tenure/kernel";
import { type Compaction, type CompactionPlan, type CompactionResult, checkPlan } from "../compactor.ts";
import {
  checkObject,
  describeObject,
  existsFault,
  missingFault,
  parseSnapshotName,
  type SnapshotObject,
  type SnapshotStore,
} from "../snapshot/snapshot-store.ts";
import type { MemoryLog } from "./memory-log.ts";

/** The snapshot store's twin in memory, with an outage on demand. */
export class MemorySnapshots implements SnapshotStore {
  readonly #objects = new Map<string, Uint8Array>();
  /** While true nothing is kept and nothing is found. */
  isDown = false;

  async put(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<SnapshotObject> {
    this.#assertUp(signal);
    parseSnapshotName(name);
    const object = describeObject(name, bytes);
    const kept = this.#objects.get(name);
    if (kept !== undefined && describeObject(name, kept).digest !== object.digest) throw existsFault(object);
    if (kept === undefined) this.#objects.set(name, bytes.slice());
    return object;
  }

  async get(object: SnapshotObject, signal?: AbortSignal): Promise<Uint8Array> {
    this.#assertUp(signal);
    const bytes = this.#objects.get(object.name);
    if (bytes === undefined) throw missingFault(object.name);
    return checkObject(object, bytes).slice();
  }

  /** The names of what is kept, for checkers. */
  get names(): readonly string[] {
    return [...this.#objects.keys()];
  }

  /** Removes an object; whether it was there. */
  remove(name: string): boolean {
    return this.#objects.delete(name);
  }

  #assertUp(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (!this.isDown) return;
    throw new Fault({ code: "UNAVAILABLE", reason: "JETSTREAM_UNAVAILABLE", message: "the snapshot store is down" });
  }
}

/** The compactor's twin in memory. */
export class MemoryCompactor implements Compaction {
  readonly #log: MemoryLog;
  readonly #snapshots: MemorySnapshots;

  constructor(log: MemoryLog, snapshots: MemorySnapshots) {
    this.#log = log;
    this.#snapshots = snapshots;
  }

  async compact(plan: CompactionPlan, signal?: AbortSignal): Promise<CompactionResult> {
    checkPlan(plan);
    const { partition, previous } = plan;
    // What must stay is looked at first, as the real one does.
    await this.#snapshots.get(previous, signal);
    if (!this.#log.messages(partition).some(({ sequence }) => sequence === previous.sequence)) {
      throw new Fault({
        code: "FAILED_PRECONDITION",
        reason: "COMPACTION_UNSAFE",
        message: `partition ${partition} is not purged: the batch ${previous.sequence} was not to be seen`,
      });
    }
    const outdated = this.#snapshots.names.filter((name) => {
      const parts = parseSnapshotName(name);
      return parts.partition === partition && parts.sequence < previous.sequence;
    });
    const snapshotMessages = outdated.filter((name) => this.#snapshots.remove(name)).length;
    return { logMessages: this.#log.purge(partition, previous.sequence), snapshotMessages };
  }
}
