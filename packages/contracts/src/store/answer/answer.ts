import { describeRefusal, isRefusal, type PartitionState, type Refusal, type Reply, type Waiters } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import type { RecordView } from "../record/lease-to-wire.ts";

/** The state that an answer shows, after the batch that it answers is committed. */
export interface AnswerView {
  readonly state: PartitionState;
  /** The replica's monotonic ms. */
  readonly now: number;
  /** The owner's queues; undefined on followers. */
  readonly waiters?: Waiters;
}

/** The same for records of the partition. */
export function recordView({ now, state, waiters }: AnswerView): RecordView {
  const { partition } = state;
  return waiters === undefined ? { partition, now } : { partition, now, waiters };
}

/** A refusal as the fault that the caller gets: code, reason, numbers, and that nothing was applied. */
export function refusalFault(refusal: Refusal): Fault {
  return new Fault(describeRefusal(refusal));
}

/**
 * The response to a reply of the kind that the method expects, or the fault of a refusal. Any other reply is a mistake
 * of whoever asks: queued claims and those for the next batch have no answer yet.
 */
export function answerOf<K extends Reply["kind"], T>(
  reply: Reply,
  kind: K,
  respond: (reply: Extract<Reply, { readonly kind: K }>) => T,
): T | Fault {
  if (reply.kind === kind) return respond(reply as Extract<Reply, { readonly kind: K }>);
  if (isRefusal(reply)) return refusalFault(reply);
  const message = `a reply of kind ${reply.kind} came where ${kind} was due`;
  return new Fault({ code: "INTERNAL", reason: "INTERNAL", message, details: { applied: "UNKNOWN" } });
}

/** The log position of an outcome; 0 when nothing changed. */
export function revisionOf({ position }: { readonly position: { readonly sequence: bigint } | undefined }): bigint {
  return position?.sequence ?? 0n;
}
