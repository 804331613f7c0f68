import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf, WrittenHold } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import type { Refusal } from "../partition/reply.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { caused } from "./decision.ts";

type Writing = CommandOf<"create" | "update">;

/**
 * The strategy and preferred holder as a client wrote them; a preferred holder needs a strategy (statement 49).
 * `granted` is the token of the term that the same step begins.
 */
export function markEvents(
  owned: OwnedPartition,
  command: Writing,
  written: WrittenHold,
  granted: bigint | undefined,
): readonly Event[] | Refusal {
  const record = owned.state.leases.get(command.lease);
  const strategies = strategyEvents(command, written, record);
  const hasStrategy = written.strategy !== undefined || record?.strategy !== undefined;
  if (written.preferredHolder !== undefined && written.preferredHolder !== "" && !hasStrategy) {
    const rule = "must not be set without a strategy";
    const violation = { field: "written_hold.preferred_holder", rule, value: written.preferredHolder };
    return { kind: "invalid", violations: [violation] };
  }
  return [...strategies, ...preferenceEvents(command, written, record, granted)];
}

function strategyEvents(
  command: Writing,
  { strategy }: WrittenHold,
  record: LeaseRecord | undefined,
): readonly Event[] {
  if (strategy === undefined) return [];
  const known = record?.strategy;
  const isSame = known !== undefined && JSON.stringify(known.strategy) === JSON.stringify(strategy);
  if (isSame || known?.source === "operator") return [];
  const { lease, principal: author, reason = "" } = command;
  const setting = { strategy, source: "written", author, reason } as const;
  return [caused(command, { kind: "strategyChanged", lease, strategy: setting, conflict: undefined })];
}

function preferenceEvents(
  command: Writing,
  { holder, preferredHolder }: WrittenHold,
  record: LeaseRecord | undefined,
  granted: bigint | undefined,
): readonly Event[] {
  const { lease, principal: author, reason = "" } = command;
  // A grant in the same step has cleared what was preferred before.
  const known = granted === undefined ? (record?.preferredHolder ?? "") : "";
  if (preferredHolder === undefined || preferredHolder === known) return [];
  // Where an operator has turned coordination off, only what was stored before may be changed (statement 50).
  if (known === "" && isCoordinationOff(record)) return [];
  const token = granted ?? record?.holds[0]?.token ?? 0n;
  if (preferredHolder === "" || preferredHolder === holder) {
    return known === "" ? [] : [caused(command, { kind: "endOfTermCleared", lease, token })];
  }
  const drainBoundMs = record?.spec.drainBoundMs ?? defaultLeaseSpec.drainBoundMs;
  const endOfTerm = { token, preferredHolder, drainBoundMs, author, reason, decisionId: "" };
  return [caused(command, { kind: "endOfTermMarked", lease, endOfTerm })];
}

function isCoordinationOff(record: LeaseRecord | undefined): boolean {
  return record?.strategy?.source === "operator" && record.strategy.strategy.kind === "noCoordination";
}
