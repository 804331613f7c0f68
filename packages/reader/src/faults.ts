import { ResyncReason } from "@tenure/contracts";
import { Fault } from "@tenure/kernel";

/** What a read is answered with while the log has not been read as far as it asks for. */
export function replicaBehind(why: string, partition?: number): Fault {
  const attributes = partition === undefined ? {} : { partition: String(partition) };
  return new Fault({
    code: "UNAVAILABLE",
    reason: "REPLICA_BEHIND",
    message: `this replica cannot answer now: ${why}`,
    details: { applied: "NO", attributes },
  });
}

/** The partition halted; an operator must act. */
export function partitionHalted(partition: number, why: string): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "PARTITION_HALTED",
    message: `partition ${partition} has halted: ${why}`,
    details: { applied: "NO", attributes: { partition: String(partition) } },
  });
}

/** As many watches as are allowed are open. */
export function tooManyWatchers(most: number): Fault {
  return new Fault({
    code: "RESOURCE_EXHAUSTED",
    reason: "LIMIT_EXCEEDED",
    message: `too many watches are open: limit watchers of ${most} is reached`,
    details: { applied: "NO", limit: { name: "watchers", value: BigInt(most) } },
  });
}

/** A watcher reads too slowly and is cut off. */
export function watcherTooSlow(most: number): Fault {
  return new Fault({
    code: "RESOURCE_EXHAUSTED",
    reason: "WATCHER_TOO_SLOW",
    message: `the watcher is ${most} batches behind and was cut off: resume from its last token`,
    details: { limit: { name: "queued-per-watcher", value: BigInt(most) } },
  });
}

/** Changes were missed by a watcher who does not want to start over. */
export function changesMissed(reason: ResyncReason): Fault {
  const why = reason === ResyncReason.TOKEN_TOO_OLD ? "the resume token is too old" : "changes were missed";
  return new Fault({
    code: "OUT_OF_RANGE",
    reason: "RESUME_TOKEN_TOO_OLD",
    message: `${why}: list again, and watch from the list`,
  });
}
