import type { CallContext } from "@tenure/bus";
import { type LeaseKey, partitionOf } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { reachIn } from "@tenure/reader";
import { catchUpMs, type ElectionContext, recordOf } from "./election-context.ts";

/** A caller that compares nothing means whatever the lease is by then; renewed tries meet another change each time. */
const mostTries = 5;

/**
 * Makes a change at the revision that the caller names, or at the present one. Without a revision of the caller's own a
 * conflict only says that this replica was behind: it reads on and tries again, with the same attempt.
 */
export async function withRevision<Answer>(
  context: ElectionContext,
  lease: LeaseKey,
  expected: bigint | undefined,
  scope: CallContext,
  change: (expectedRevision: bigint) => Promise<Answer>,
): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change(expected ?? presentRevision(context, lease));
    } catch (thrown) {
      const isConflict = thrown instanceof Fault && thrown.reason === "REVISION_CONFLICT";
      if (!isConflict || expected !== undefined || tries === mostTries) throw thrown;
      const { reader } = context;
      const partition = partitionOf(lease, reader.partitions);
      await reachIn(reader, partition, thrown.details.revision ?? 0n, catchUpMs, scope.signal);
    }
  }
}

/** The revision of a lease that exists; 0 when none does. */
function presentRevision(context: ElectionContext, lease: LeaseKey): bigint {
  const record = recordOf(context, lease);
  return record === undefined || record.created === undefined || record.deletion !== undefined
    ? 0n
    : record.revision.sequence;
}
