import { failureFromFault, type PackedRefusal } from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import type { PackedGroup } from "./renewal-groups.ts";

/** The refusal of every hold of these groups, for one reason. */
export function refusalsOf(groups: readonly PackedGroup[], fault: Fault): readonly PackedRefusal[] {
  const failure = failureFromFault(fault);
  return groups.flatMap(({ holdIds, partition, sendNumber }) =>
    holdIds.map((holdId) => ({ holdId: BigInt(holdId), partition, sendNumber: BigInt(sendNumber), failure })),
  );
}

/** Whatever kept the answer away, the holder learns only that nothing is known and its next renewal decides. */
export function unknownOutcome({ message, reason }: Fault): Fault {
  return new Fault({ code: "UNAVAILABLE", reason, message, details: { applied: "UNKNOWN" } });
}

/** The fault of renewals that name a partition which does not exist. */
export function noPartition(partition: number): Fault {
  const violation = { field: "renewals", rule: "must be of a partition that exists", value: String(partition) };
  return new Fault({
    code: "INVALID_ARGUMENT",
    reason: "INVALID_FIELD",
    message: `partition ${partition} does not exist`,
    details: { applied: "NO", violations: [violation] },
  });
}

/** The fault of renewals that have no room in the queue of their partition. */
export function queueFull(name: string, most: number): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "LIMIT_EXCEEDED",
    message: `more than ${most} renewals wait for the partition's owner`,
    details: { applied: "NO", limit: { name, value: BigInt(most) } },
  });
}
