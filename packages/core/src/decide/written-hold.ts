import type { OwnedPartition } from "../partition/batch.ts";
import type { Claim, CommandHeader, CommandOf, WrittenHold } from "../partition/command.ts";
import type { Event } from "../partition/event.ts";
import type { Refusal } from "../partition/reply.ts";
import type { Hold } from "../record/hold.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { LeaseSpec } from "../record/lease-spec.ts";
import { checkLeaseDuration } from "../timing.ts";
import { checkDurationMs } from "../validation/field.ts";
import { checkStrategy } from "../validation/strategy.ts";
import { clearWay } from "./clearance.ts";
import { creationEvents } from "./creation.ts";
import { answer, caused, type Decision } from "./decision.ts";
import { endByHolder } from "./end.ts";
import { checkClaimant, grantEvents } from "./grant.ts";
import { allot, nextToken } from "./number.ts";
import { checkHolder } from "./permission.ts";
import { checkRenewal } from "./renew.ts";
import { markEvents } from "./written-mark.ts";

type Writing = CommandOf<"create" | "update">;

/** A lease that a compatible front creates, with a holder in it or free. */
export function decideWrittenCreate(
  owned: OwnedPartition,
  command: Writing,
  spec: LeaseSpec,
  written: WrittenHold,
  now: number,
): Decision {
  const invalid = checkWritten(written);
  if (invalid !== undefined) return answer(invalid);
  const change =
    written.holder === ""
      ? creationEvents(owned, command, command.lease, spec, now)
      : takeWritten(owned, command, spec, written, now);
  return finish(owned, command, [], change, written);
}

/**
 * A record as a client that keeps leases itself writes it: the same holder renews, an empty one releases, another takes
 * the lease only when the owner's own clock says that the term is over, whatever revision the client saw (rule 16).
 */
export function decideWrittenUpdate(
  owned: OwnedPartition,
  command: CommandOf<"update">,
  record: LeaseRecord,
  spec: LeaseSpec,
  written: WrittenHold,
  now: number,
): Decision {
  const invalid = checkWritten(written);
  if (invalid !== undefined) return answer(invalid);
  const edits = spec === record.spec ? [] : [caused(command, { kind: "leaseUpdated", lease: record.key, spec })];
  const [hold] = record.holds;
  if (hold === undefined || hold.holder !== written.holder) {
    if (written.holder === "" && hold === undefined) return finish(owned, command, edits, [], written);
    const isLeaving = written.holder === "" && hold !== undefined;
    const change = isLeaving ? leave(command, record, hold, now) : takeWritten(owned, command, spec, written, now);
    return finish(owned, command, edits, change, written);
  }
  return finish(owned, command, edits, renewWritten(owned, command, hold, written, now), written);
}

type Change = readonly Event[] | Refusal | { readonly kind: "nextBatch" };

function finish(
  owned: OwnedPartition,
  command: Writing,
  edits: readonly Event[],
  change: Change,
  written: WrittenHold,
): Decision {
  if ("kind" in change) return answer(change);
  const { lease } = command;
  const granted = change.find((event) => event.kind === "holdGranted");
  const marks = markEvents(owned, command, written, granted?.hold.token);
  if ("kind" in marks) return answer(marks);
  const events = [...edits, ...change, ...marks];
  return { events, reply: { kind: "changed", lease, position: events.length > 0 ? owned.batch.position : undefined } };
}

function takeWritten(
  owned: OwnedPartition,
  command: Writing,
  spec: LeaseSpec,
  written: WrittenHold,
  now: number,
): Change {
  const { holder, holderKey, leaseDurationMs, times } = written;
  const { lease } = command;
  const record = owned.state.leases.get(lease);
  const claim: Claim = { lease, mode: "exclusive", units: 1, spec };
  const clearance = clearWay(owned, record, { claim, participant: undefined, isElection: false }, now);
  if (clearance.kind !== "clear") return clearance;
  const claimant = { holder, holderKey };
  const termSpec = leaseDurationMs === undefined ? spec : { ...spec, leaseDurationMs };
  const refusal = checkClaimant(owned, lease, claimant, termSpec);
  if (refusal !== undefined) return refusal;
  const term = {
    claim,
    claimant,
    origin: "written",
    token: nextToken(owned, record),
    details: { writtenTimes: times },
    ...(leaseDurationMs === undefined ? undefined : { leaseDurationMs }),
  } as const;
  return grantEvents(owned, command, record, { ...clearance, spec }, term, allot(owned), now);
}

function renewWritten(
  owned: OwnedPartition,
  command: CommandHeader,
  hold: Hold,
  written: WrittenHold,
  now: number,
): Change {
  const { leaseDurationMs, times: writtenTimes } = written;
  const lease = hold.lease.key;
  // Within a term it only grows, as in `renew`; a client that keeps leases itself is not refused for it.
  const duration =
    leaseDurationMs === undefined || leaseDurationMs <= hold.leaseDurationMs ? undefined : leaseDurationMs;
  const unsafe = duration === undefined ? [] : checkLeaseDuration(duration, owned.state.settings.policy);
  const refusal = checkRenewal(hold, command, now);
  if (refusal !== undefined) return refusal;
  if (unsafe.length > 0) return { kind: "timingUnsafe", lease, violations: unsafe };
  const changed = { ...(duration === undefined ? undefined : { leaseDurationMs: duration }), writtenTimes };
  return [caused(command, { kind: "holdChanged", lease, holdId: hold.id, ...changed })];
}

function leave(command: CommandHeader, record: LeaseRecord, hold: Hold, now: number): Change {
  if (hold.principal !== command.principal) {
    return { kind: "held", lease: record.key, holder: hold.holder, token: hold.token, retryAfterMs: 0 };
  }
  return checkHolder(hold, command) ?? endByHolder(record, hold, "released", now).map((body) => caused(command, body));
}

/** What is wrong with the fields themselves, said before anything that depends on the lease. */
function checkWritten({ leaseDurationMs: durationMs, strategy }: WrittenHold): Refusal | undefined {
  const violations = [
    ...(durationMs === undefined ? [] : checkDurationMs("written_hold.lease_duration", durationMs, 1, 86_400_000)),
    ...(strategy === undefined ? [] : checkStrategy(strategy, "written_hold.strategy")),
  ];
  return violations.length > 0 ? { kind: "invalid", violations } : undefined;
}
