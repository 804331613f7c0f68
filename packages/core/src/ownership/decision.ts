import { desiredOwner, rankReplicas } from "./placement.ts";
import { nextTakeoverMs } from "./takeover-history.ts";
import type { OwnershipTiming } from "./timing.ts";
import type { OwnershipView, ReplicaSight } from "./view.ts";

/** What a replica should do about one partition. */
export type OwnershipDecision =
  /** Go on owning. */
  | { readonly kind: "keep" }
  /** Go on following; only news can change that. */
  | { readonly kind: "follow" }
  /** Go on as before; ask again at this instant, or at the next news. */
  | { readonly kind: "wait"; readonly untilMs: number }
  /** Append the first batch of a new epoch. The log decides whether it succeeds. */
  | { readonly kind: "takeOver"; readonly isHandedOver: boolean }
  /** Append the hand-over as the last event of the epoch. */
  | { readonly kind: "handOver"; readonly to: string };

const keep: OwnershipDecision = Object.freeze({ kind: "keep" });
const follow: OwnershipDecision = Object.freeze({ kind: "follow" });

/**
 * Decides whether a partition should change hands (rule 9). Beats and silence only move replicas to act at the right
 * time and one at a time; whatever they get wrong, the append of the new epoch is what makes an owner.
 */
export function ownershipDecision(view: OwnershipView, now: number, timing: OwnershipTiming): OwnershipDecision {
  if (view.isOwner) return decideAsOwner(view, now, timing);
  const { connectedSinceMs, isCaughtUp, isLeaving, log, self } = view;
  if (isLeaving || !isCaughtUp || connectedSinceMs === undefined) return follow;
  const isHandedOver = log.successor !== "";
  const dueMs =
    log.successor === self
      ? nextTakeoverMs(view.history, timing)
      : Math.max(
          silenceEndsMs(view, connectedSinceMs, now, timing),
          connectedSinceMs + 2 * timing.beatIntervalMs,
          nextTakeoverMs(view.history, timing),
        );
  return now >= dueMs ? { kind: "takeOver", isHandedOver } : { kind: "wait", untilMs: dueMs };
}

/**
 * Only the owner's own hand-over rebalances. One that leaves hands over at once, to whoever lives; otherwise a partition
 * goes to where it belongs only when that replica has settled, and not many at a time.
 */
function decideAsOwner(view: OwnershipView, now: number, timing: OwnershipTiming): OwnershipDecision {
  const { connectedSinceMs, isLeaving, lastHandOverAtMs, log, partition, replicas, self } = view;
  // The hand-over is in the log: there is nothing left to decide until somebody takes it.
  if (connectedSinceMs === undefined || log.successor !== "") return keep;
  const living = livingReplicas(replicas, now, timing);
  const settled = living.filter((replica) => isSettled(replica, now, timing));
  if (isLeaving) {
    const to = desiredOwner(partition, instancesOf(settled.length > 0 ? settled : living));
    return to === undefined ? keep : { kind: "handOver", to };
  }
  const to = desiredOwner(partition, [self, ...instancesOf(settled)]);
  if (to === undefined || to === self) return keep;
  const dueMs = lastHandOverAtMs === undefined ? now : lastHandOverAtMs + timing.handOverSpacingMs;
  return now >= dueMs ? { kind: "handOver", to } : { kind: "wait", untilMs: dueMs };
}

/** When silence has lasted long enough for this replica to act; it counts only while this replica was listening. */
function silenceEndsMs(view: OwnershipView, connectedSinceMs: number, now: number, timing: OwnershipTiming): number {
  const { log, self } = view;
  // It owned the partition and lost its hold on it, for example by a reload: nobody else is to be waited for.
  if (log.owner === self && log.successor === "") return now;
  const lineMs = placeInLine(view, now, timing) * timing.staggerMs;
  if (log.owner === "") return connectedSinceMs + 2 * timing.beatIntervalMs + lineMs;
  const heardMs = ownerHeardAtMs(view);
  return Math.max(log.lastBatchAtMs, heardMs, connectedSinceMs) + timing.silenceMs + lineMs;
}

/** When the owner last said that it serves this partition in this epoch. */
function ownerHeardAtMs({ log, partition, replicas }: OwnershipView): number {
  const owner = replicas.find(({ instance }) => instance === log.owner);
  return owner?.owned.get(partition) === log.epoch ? owner.heardAtMs : Number.NEGATIVE_INFINITY;
}

/**
 * How many replicas should act before this one. The silent owner is not in the line; replicas that have only just come
 * stand behind those that have settled.
 */
function placeInLine(view: OwnershipView, now: number, timing: OwnershipTiming): number {
  const { log, partition, replicas, self, uptimeMs } = view;
  const others = livingReplicas(replicas, now, timing).filter(({ instance }) => instance !== log.owner);
  const settled = instancesOf(others.filter((replica) => isSettled(replica, now, timing)));
  const fresh = instancesOf(others).filter((instance) => !settled.includes(instance));
  const isSelfSettled = uptimeMs >= timing.settleMs;
  (isSelfSettled ? settled : fresh).push(self);
  return [...rankReplicas(partition, settled), ...rankReplicas(partition, fresh)].indexOf(self);
}

function livingReplicas(replicas: readonly ReplicaSight[], now: number, timing: OwnershipTiming): ReplicaSight[] {
  return replicas.filter(({ heardAtMs, isLeaving }) => !isLeaving && now - heardAtMs < timing.silenceMs);
}

function isSettled({ heardAtMs, uptimeMs }: ReplicaSight, now: number, { settleMs }: OwnershipTiming): boolean {
  return uptimeMs + (now - heardAtMs) >= settleMs;
}

function instancesOf(replicas: readonly ReplicaSight[]): string[] {
  return replicas.map(({ instance }) => instance);
}
