import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import type { Refusal } from "../partition/reply.ts";
import type { Hold, TermEndReason } from "../record/hold.ts";
import { answer, caused, type Decision, nothing } from "./decision.ts";
import { endByHolder } from "./end.ts";
import { checkHolder } from "./permission.ts";

/**
 * Ends the caller's own terms at once. The holder is compared in the same step, so a release that comes late or from
 * another changes nothing and is no error (statement 11).
 */
export function decideRelease(owned: OwnedPartition, command: CommandOf<"release">, now: number): Decision {
  let events: readonly Event[] = nothing;
  let mismatch: Refusal | undefined;
  const released = command.items.map(({ lease, token }) => {
    const hold = owned.state.leases.get(lease)?.holdWith(token);
    const refusal = hold === undefined ? undefined : checkHolder(hold, command);
    if (refusal?.kind === "renewKeyMismatch") mismatch ??= refusal;
    if (hold === undefined || refusal !== undefined) return false;
    const bodies = endByHolder(hold.lease, hold, releaseReason(hold, command.endReason), now);
    const ended = bodies.map((body) => caused(command, body));
    events = events === nothing ? ended : [...events, ...ended];
    return true;
  });
  if (mismatch !== undefined) return answer(mismatch);
  const position = events.length > 0 ? owned.batch.position : undefined;
  return { events, reply: { kind: "released", released, position } };
}

/** Why the term ended: what its holder says, unless someone else had already made it end. */
function releaseReason({ lease, revocation, token }: Hold, given: TermEndReason | undefined): TermEndReason {
  if (revocation !== undefined) return revocation.endReason;
  if (lease.deletion !== undefined) return lease.deletion.endReason;
  if (given !== undefined) return given;
  if (lease.endOfTerm?.token !== token) return "released";
  return lease.endOfTerm.decisionId === "" ? "steppedDown" : "preempted";
}
