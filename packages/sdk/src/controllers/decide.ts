import { type LeaseName, showLease } from "../term/lease-name.ts";
import type { Assignment } from "./assignment.ts";

/** What a controller manager knows at one moment. Locks are named `namespace/name`. */
export interface ManagerView {
  /** It was asked to stop, or lost a lock: everything ends before anything begins again (statement 118). */
  readonly isEnding: boolean;
  /** Locks that are held and have not been asked back. */
  readonly held: ReadonlySet<string>;
  /** Whether the migration service has answered, or was found to be away. */
  readonly isJudged: boolean;
  /** Controllers that the migration service does not let run here. */
  readonly refused: ReadonlySet<string>;
}

/** What should be at that moment. */
export interface ManagerDecision {
  /** Locks to campaign for, or to go on holding. */
  readonly locks: ReadonlyMap<string, LeaseName>;
  /** Controllers to run, each with its lock. */
  readonly controllers: ReadonlyMap<string, LeaseName>;
}

/**
 * Which locks to stand for and which controllers to run. It is asked anew at every change and remembers nothing. A
 * migration lock is wanted only while the primary is held, so losing the primary gives all of them up (statement 115).
 */
export function decide(primary: LeaseName, assignments: readonly Assignment[], view: ManagerView): ManagerDecision {
  const locks = new Map<string, LeaseName>();
  const controllers = new Map<string, LeaseName>();
  if (view.isEnding) return { locks, controllers };
  locks.set(showLease(primary), primary);
  if (!view.held.has(showLease(primary))) return { locks, controllers };
  for (const { controller, lock } of assignments) {
    if (lock === undefined) continue;
    locks.set(showLease(lock), lock);
    const mayRun = view.isJudged && !view.refused.has(controller) && view.held.has(showLease(lock));
    if (mayRun) controllers.set(controller, lock);
  }
  return { locks, controllers };
}
