import { Fault } from "@tenure/kernel";

function partitionDetails(partition: number): Readonly<Record<string, string>> {
  return { partition: String(partition) };
}

/** The partition is another replica's now; the change was not made. */
export function ownerChanged(partition: number): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "OWNER_CHANGED",
    message: `partition ${partition} has another owner now: send the call again`,
    details: { applied: "NO", attributes: partitionDetails(partition) },
  });
}

/** The replica stopped while the change was under way. */
export function outcomeUnknown(partition: number): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "APPEND_UNKNOWN",
    message: `the owner of partition ${partition} stopped before the log answered: retry with the same attempt`,
    details: { applied: "UNKNOWN", attributes: partitionDetails(partition) },
  });
}

/** A configured limit of the replica was hit; nothing was changed. */
export function limitReached(name: string, value: number, what: string): Fault {
  return new Fault({
    code: "RESOURCE_EXHAUSTED",
    reason: "LIMIT_EXCEEDED",
    message: `${what}: limit ${name} of ${value} is reached`,
    details: { applied: "NO", limit: { name, value: BigInt(value) } },
  });
}

/** The replica cannot serve the partition now, and why. */
export function notServing(partition: number, why: string): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "REPLICA_BEHIND",
    message: `this replica cannot answer for partition ${partition}: ${why}`,
    details: { applied: "NO", attributes: partitionDetails(partition) },
  });
}

/** The partition halted; an operator must act. */
export function partitionHalted(partition: number, why: string): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "PARTITION_HALTED",
    message: `partition ${partition} has halted: ${why}`,
    details: { applied: "NO", attributes: partitionDetails(partition) },
  });
}
