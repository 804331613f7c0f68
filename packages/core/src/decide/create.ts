import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf } from "../partition/command.ts";
import { existingLease } from "../partition/state.ts";
import { checkMissing, creationEvents } from "./creation.ts";
import { answer, type Decision } from "./decision.ts";
import { decideWrittenCreate } from "./written-hold.ts";

/** Creates a free lease, or one that a compatible front says is held. */
export function decideCreate(owned: OwnedPartition, command: CommandOf<"create">, now: number): Decision {
  const { lease, spec, written } = command;
  const existing = existingLease(owned.state, lease);
  if (existing !== undefined) return answer({ kind: "alreadyExists", lease, revision: existing.revision.sequence });
  const refusal = checkMissing(owned, lease, spec, now);
  if (refusal !== undefined) return answer(refusal);
  if (written !== undefined) return decideWrittenCreate(owned, command, spec, written, now);
  const events = creationEvents(owned, command, lease, spec, now);
  return { events, reply: { kind: "changed", lease, position: owned.batch.position } };
}
