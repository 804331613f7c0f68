import type { OwnedPartition } from "../partition/batch.ts";
import type { CommandOf } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import type { Refusal } from "../partition/reply.ts";
import { existingLease } from "../partition/state.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import { openSequence } from "../record/position.ts";
import { parseVersionRange } from "../version-range.ts";
import { checkMissing, creationEvents } from "./creation.ts";
import { answer, caused, type Decision } from "./decision.ts";
import { revisionConflict } from "./permission.ts";

/** Puts a migration configuration, and who may hold its lock, onto the lock's lease record (rule 24). */
export function decidePutMigration(owned: OwnedPartition, command: CommandOf<"putMigration">, now: number): Decision {
  const { configuration, eligibility, lease } = command;
  const refusal = checkConfiguration(owned, command) ?? checkRanges(command) ?? checkHeld(owned, command);
  if (refusal !== undefined) return answer(refusal);
  const created: Event[] = [];
  if (existingLease(owned.state, lease) === undefined) {
    const missing = checkMissing(owned, lease, defaultLeaseSpec, now);
    if (missing !== undefined) return answer(missing);
    created.push(...creationEvents(owned, command, lease, defaultLeaseSpec, now));
  }
  const events = [...created, caused(command, { kind: "migrationChanged", lease, configuration, eligibility })];
  return { events, reply: { kind: "changed", lease, position: owned.batch.position } };
}

function checkConfiguration({ state }: OwnedPartition, command: CommandOf<"putMigration">): Refusal | undefined {
  const { configuration, expectedRevision: expected, lease } = command;
  const most = state.settings.limits.migrationBytes;
  if (configuration !== undefined && configuration.length > most) {
    return { kind: "limitExceeded", limit: "migrationBytes", value: most };
  }
  if (expected === undefined) return undefined;
  const position = state.leases.get(lease)?.migration?.revision;
  const revision = position?.sequence ?? 0n;
  const isOpen = position?.sequence === openSequence;
  return revision === expected && !isOpen
    ? undefined
    : revisionConflict(lease, expected, () => position?.sequence ?? 0n);
}

/**
 * A held lock guards a fixed set of controllers: one that joined it meanwhile would run under a term that never meant
 * it. A holder that runs with the new configuration already means it.
 */
function checkHeld({ state }: OwnedPartition, command: CommandOf<"putMigration">): Refusal | undefined {
  const record = state.leases.get(command.lease);
  const hold = record?.holds[0];
  const holder = hold?.holder ?? record?.pending?.candidate;
  if (command.isUnlessHeld !== true || holder === undefined) return undefined;
  const digest = hold?.details?.participant?.configurationDigest;
  if (digest !== undefined && digest === command.eligibility?.configurationDigest) return undefined;
  const why = `${holder} holds the lock, and a lock that is held keeps its set of controllers`;
  return { kind: "immutable", lease: command.lease, field: "controller_leaders", why };
}

function checkRanges({ eligibility }: CommandOf<"putMigration">): Refusal | undefined {
  const violations = (eligibility?.components ?? [])
    .filter(({ name, versionRange }) => name === "" || parseVersionRange(versionRange) === undefined)
    .map(({ name, versionRange }) => ({
      field: "eligibility.components",
      rule: "must have a name and a range of semantic versions such as '>=1.21.0 <1.23.0'",
      value: `${name} ${versionRange}`,
    }));
  return violations.length > 0 ? { kind: "invalid", violations } : undefined;
}
