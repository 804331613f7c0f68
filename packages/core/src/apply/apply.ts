import type { Event } from "../partition/event.ts";
import type { PartitionState } from "../partition/state.ts";
import type { Position } from "../record/position.ts";
import { applyCandidate } from "./candidate.ts";
import { applyGuard } from "./guard.ts";
import { applyHold } from "./hold.ts";
import { applyLease } from "./lease.ts";
import { applyPartition } from "./partition.ts";

/**
 * Applies one fact in place. Total and deterministic: every replica that applies the same facts at the same sequences
 * has the same state, whatever its clock says. All facts of one batch share one position.
 */
export function apply(state: PartitionState, event: Event, position: Position): void {
  state.before?.note(state, event);
  state.still?.note(state, event);
  switch (event.kind) {
    case "ownerChanged":
    case "ownerHandedOver":
    case "snapshotAnnounced":
    case "settingsChanged":
    case "recoveryChanged":
    case "attemptRecorded":
    case "attemptsForgotten":
      applyPartition(state, event, position);
      return;
    case "leaseCreated":
    case "leaseUpdated":
    case "leaseDeleted":
    case "leaseRestored":
    case "tombstoneRemoved":
    case "strategyChanged":
    case "migrationChanged":
    case "decisionRecorded":
      applyLease(state, event, position);
      return;
    case "holdGranted":
    case "renewed":
    case "holdChanged":
    case "holdEnded":
    case "holdPending":
    case "pendingLapsed":
    case "endOfTermMarked":
    case "endOfTermCleared":
      applyHold(state, event, position);
      return;
    case "guardChanged":
      applyGuard(state, event, position);
      return;
    default:
      applyCandidate(state, event, position);
      return;
  }
}
