import type { FieldViolation } from "@tenure/kernel";
import { checkGuardedKey } from "../key.ts";
import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf, GuardComparison } from "../partition/command.ts";
import type { Refusal } from "../partition/reply.ts";
import type { GuardedValue } from "../record/guarded.ts";
import type { LeaseRecord } from "../record/lease.ts";
import { openSequence } from "../record/position.ts";
import { answer, caused, type Decision } from "./decision.ts";
import { checkHolder, missingHold } from "./permission.ts";

/**
 * Writes guarded values as the holder of an exclusive term. It is decided in the same order as grants, so once a newer
 * token is given no write of an older one is accepted, whoever sent it when (rule 22).
 */
export function decideGuard(owned: OwnedPartition, command: CommandOf<"guard">): Decision {
  const { changes, lease, token } = command;
  const record = owned.state.leases.get(lease);
  const hold = record?.holdWith(token);
  if (record === undefined || hold === undefined) return answer(missingHold(owned.state, lease, token));
  const refusal =
    checkHolder(hold, command) ??
    (hold.mode === "exclusive" ? undefined : ({ kind: "exclusiveHoldRequired", lease } as const)) ??
    (hold.revocation && ({ kind: "revoked", lease, token, reason: hold.revocation.reason } as const)) ??
    checkKeys(command) ??
    checkSizes(owned, command) ??
    checkRoom(owned, command, record) ??
    checkComparisons(command, record);
  if (refusal !== undefined) return answer(refusal);
  const existed = changes.some(({ key }) => record.guarded?.has(key));
  const isNothing = !existed && changes.every(({ value }) => value === undefined);
  if (isNothing) return answer({ kind: "guardedChanged", lease, existed, position: undefined });
  const events = [caused(command, { kind: "guardChanged", lease, token, holder: hold.holder, changes })];
  return { events, reply: { kind: "guardedChanged", lease, existed, position: owned.batch.position } };
}

function checkKeys({ changes, comparisons }: CommandOf<"guard">): Refusal | undefined {
  const violations: FieldViolation[] = [];
  for (const { key } of changes) violations.push(...checkGuardedKey(key));
  for (const { key } of comparisons) violations.push(...checkGuardedKey(key));
  const count = changes.length;
  if (count !== 1 && (count === 0 || new Set(changes.map(({ key }) => key)).size < count)) {
    const rule = "must have at least one change, and each key at most once";
    violations.push({ field: "operations", rule, value: String(count) });
  }
  return violations.length > 0 ? { kind: "invalid", violations } : undefined;
}

function checkSizes({ state }: OwnedPartition, { changes, comparisons }: CommandOf<"guard">): Refusal | undefined {
  const { guardedTransactionBytes, guardedTransactionOperations, guardedValueBytes } = state.settings.limits;
  if (Math.max(changes.length, comparisons.length) > guardedTransactionOperations) {
    return { kind: "limitExceeded", limit: "guardedTransactionOperations", value: guardedTransactionOperations };
  }
  const sizes = changes.map(({ value }) => value?.length ?? 0);
  if (sizes.some((size) => size > guardedValueBytes)) {
    return { kind: "limitExceeded", limit: "guardedValueBytes", value: guardedValueBytes };
  }
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= guardedTransactionBytes) return undefined;
  return { kind: "limitExceeded", limit: "guardedTransactionBytes", value: guardedTransactionBytes };
}

function checkRoom(
  { state }: OwnedPartition,
  { changes }: CommandOf<"guard">,
  record: LeaseRecord,
): Refusal | undefined {
  const most = state.settings.limits.guardedKeysPerLease;
  let count = record.guarded?.size ?? 0;
  for (const { key, value } of changes) {
    const has = record.guarded?.has(key) ?? false;
    if (has !== (value !== undefined)) count += has ? -1 : 1;
  }
  return count > most ? { kind: "limitExceeded", limit: "guardedKeysPerLease", value: most } : undefined;
}

function checkComparisons({ comparisons, lease }: CommandOf<"guard">, record: LeaseRecord): Refusal | undefined {
  for (const comparison of comparisons) {
    const stored = record.guarded?.get(comparison.key);
    if (!holds(comparison, stored)) {
      return { kind: "comparisonFailed", lease, key: comparison.key, revision: stored?.revision.sequence ?? 0n };
    }
  }
  return undefined;
}

function holds(comparison: GuardComparison, stored: GuardedValue | undefined): boolean {
  if ("revisionIs" in comparison) {
    if (stored === undefined) return comparison.revisionIs === 0n;
    return stored.revision.sequence !== openSequence && stored.revision.sequence === comparison.revisionIs;
  }
  const wanted = comparison.valueIs;
  return (
    stored !== undefined &&
    stored.value.length === wanted.length &&
    stored.value.every((byte, at) => byte === wanted[at])
  );
}
