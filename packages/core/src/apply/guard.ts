import type { GuardEvent } from "../partition/event.ts";
import { ensureRecord, type PartitionState } from "../partition/state.ts";
import type { Position } from "../record/position.ts";

/** Applies a change of guarded values. The lease's own revision stays; each value has its own. */
export function applyGuard(state: PartitionState, event: GuardEvent, position: Position): void {
  const record = ensureRecord(state, event.lease, position);
  record.guarded ??= new Map();
  const { holder, token } = event;
  for (const { key, value } of event.changes) {
    if (value === undefined) record.guarded.delete(key);
    else record.guarded.set(key, { value, revision: position, token, holder });
  }
  if (record.guarded.size === 0) record.guarded = undefined;
}
