import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import type { Refusal } from "../partition/reply.ts";
import { existingLease } from "../partition/state.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { checkStrategy } from "../validation/strategy.ts";
import { checkMissing, creationEvents } from "./creation.ts";
import { answer, caused, type Decision } from "./decision.ts";
import { checkRevision } from "./permission.ts";

/** Writes a lease's strategy or a conflict about it. Consensus never overrides an operator (rule 21). */
export function decidePutStrategy(owned: OwnedPartition, command: CommandOf<"putStrategy">, now: number): Decision {
  const { conflict, lease, principal: author, reason = "", strategy } = command;
  const record = existingLease(owned.state, lease);
  const refusal = checkRevision(lease, record, command.expectedRevision) ?? checkSetting(command, record);
  if (refusal !== undefined) return answer(refusal);
  const created: Event[] = [];
  if (record === undefined) {
    const missing = checkMissing(owned, lease, defaultLeaseSpec, now);
    if (missing !== undefined) return answer(missing);
    created.push(...creationEvents(owned, command, lease, defaultLeaseSpec, now));
  }
  const setting = strategy === undefined ? undefined : { ...strategy, author, reason };
  const events = [...created, caused(command, { kind: "strategyChanged", lease, strategy: setting, conflict })];
  return { events, reply: { kind: "changed", lease, position: owned.batch.position } };
}

function checkSetting({ lease, strategy }: CommandOf<"putStrategy">, record?: LeaseRecord): Refusal | undefined {
  if (strategy !== undefined) {
    const violations = checkStrategy(strategy.strategy);
    if (violations.length > 0) return { kind: "invalid", violations };
  }
  const isOverride =
    strategy !== undefined && strategy.source !== "operator" && record?.strategy?.source === "operator";
  return isOverride ? { kind: "immutable", lease, field: "strategy", why: "an operator set it" } : undefined;
}
