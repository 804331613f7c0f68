import type { LeaseKey } from "../key.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandHeader, CommandOf } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import type { Refusal } from "../partition/reply.ts";
import { answer, caused, type Decision } from "./decision.ts";

/** A coordinator's decision as a command carries it. */
export interface CarriedDecision {
  readonly id: string;
  readonly body: Uint8Array;
}

/** Why a decision cannot be kept; undefined when it can. */
export function checkDecision({ state }: OwnedPartition, decision: CarriedDecision | undefined): Refusal | undefined {
  const most = state.settings.limits.decisionBytes;
  if (decision === undefined || decision.body.length <= most) return undefined;
  return { kind: "limitExceeded", limit: "decisionBytes", value: most };
}

/** The fact that keeps a decision with what it led to. */
export function decisionEvents(
  command: CommandHeader,
  lease: LeaseKey,
  decision: CarriedDecision | undefined,
): readonly Event[] {
  if (decision === undefined) return [];
  return [caused(command, { kind: "decisionRecorded", lease, id: decision.id, body: decision.body })];
}

/** Keeps a decision that led to no other command. */
export function decideRecordDecision(owned: OwnedPartition, command: CommandOf<"recordDecision">): Decision {
  const refusal = checkDecision(owned, command);
  if (refusal !== undefined) return answer(refusal);
  const { lease } = command;
  return {
    events: decisionEvents(command, lease, command),
    reply: { kind: "changed", lease, position: owned.batch.position },
  };
}
