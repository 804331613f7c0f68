import type { PartitionEvent } from "../partition/event.ts";
import type { PartitionState } from "../partition/state.ts";
import type { Position } from "../record/position.ts";
import { forgetAttempts, recordAttempt } from "./attempt.ts";

/** Applies a fact about the partition itself. */
export function applyPartition(state: PartitionState, event: PartitionEvent, position: Position): void {
  switch (event.kind) {
    case "ownerChanged":
      state.epoch = event.epoch;
      state.owner = event.owner;
      state.successor = "";
      state.owesPause = false;
      state.epochStart = position;
      return;
    case "ownerHandedOver":
      state.successor = event.successor;
      state.owesPause = event.owesPause;
      return;
    case "snapshotAnnounced":
      state.snapshot = event.snapshot;
      return;
    case "settingsChanged":
      state.settings = event.settings;
      return;
    case "recoveryChanged":
      state.recovery = event.holdOffMs > 0 ? { from: position, holdOffMs: event.holdOffMs } : undefined;
      return;
    case "attemptRecorded":
      recordAttempt(state, event, position);
      return;
    case "attemptsForgotten":
      forgetAttempts(state, event.client, event.belowNumber);
      return;
  }
}
