import {
  type Attempt,
  durationFromMs,
  ElectionServicePreemptRequest,
  ElectionServiceStepDownRequest,
  type Lease,
  LeaseServiceDeleteRequest,
  LeaseServiceRevokeRequest,
} from "@tenure/contracts";
import type { Tenure } from "@tenure/sdk";
import type { Command, Flag, Invocation } from "../command/command.ts";
import { CommandFailure, exitCodes } from "../exit-code.ts";
import { holderText, leaseKind, readLease } from "../records/lease.ts";
import { firstLease } from "../records/lease-name.ts";
import { changeFlags, makeChange, reasonedChangeFlags, reasonOf, requiredReason } from "./change.ts";

const drainFlag: Flag = { name: "drain", value: "DURATION", summary: "how long the holder may take to finish" };

/** What every change of a lease sends. */
interface Common {
  readonly attempt: Attempt;
  readonly lease: ReturnType<typeof firstLease>;
  readonly expectedRevision: bigint;
  readonly dryRun: boolean;
}

type Send = (
  tenure: Tenure,
  common: (attempt: Attempt) => Common,
  present: Lease,
) => Promise<{
  readonly lease: Lease | undefined;
}>;

/** Changes one lease as the user saw it; another change in between is a conflict. */
export async function changeLease(invocation: Invocation, what: (lease: Lease) => string, send: Send): Promise<number> {
  const tenure = await invocation.connect();
  const lease = firstLease(invocation);
  const present = await readLease(tenure, lease);
  return await makeChange(invocation, {
    kind: leaseKind,
    present,
    what: what(present),
    async apply(dryRun) {
      const expectedRevision = present.revision;
      const answer = await send(tenure, (attempt) => ({ attempt, lease, expectedRevision, dryRun }), present);
      if (answer.lease !== undefined) return answer.lease;
      throw new CommandFailure(exitCodes.error, "the service answered without the record");
    },
  });
}

/** `step-down`, `transfer`, `leases release`, `leases delete`. */
export const leaseChanges: readonly Command[] = [
  {
    path: ["step-down"],
    summary: "Ask the holder to finish for whoever is best without it",
    positionals: [{ name: "NAME" }],
    flags: [
      drainFlag,
      { name: "cool-down", value: "DURATION", summary: "how long the former holder is not eligible" },
      ...reasonedChangeFlags,
    ],
    examples: [["tenure step-down billing/scheduler --reason 'node goes away'", "the holder finishes and hands over"]],
    run(invocation) {
      const note = requiredReason(invocation);
      return changeLease(
        invocation,
        (lease) => `ask ${holderText(lease) || "nobody"} to step down from ${leaseKind.name(lease)}`,
        (tenure, common) =>
          tenure.session.change("ElectionService.StepDown", (attempt) =>
            ElectionServiceStepDownRequest.fromPartial({
              ...common(attempt),
              note,
              drainBound: durationOf(invocation, "drain"),
              coolDown: durationOf(invocation, "cool-down"),
            }),
          ),
      );
    },
  },
  {
    path: ["transfer"],
    summary: "End the running term for a named candidate, which must answer first",
    positionals: [{ name: "NAME" }],
    flags: [{ name: "to", value: "CANDIDATE", summary: "required: who is to lead" }, drainFlag, ...reasonedChangeFlags],
    examples: [["tenure transfer billing/scheduler --to node-2 --reason 'closer to the data'", "a clean hand-over"]],
    run(invocation) {
      const note = requiredReason(invocation);
      const name = invocation.values.required("to");
      return changeLease(
        invocation,
        (lease) => `transfer ${leaseKind.name(lease)} from ${holderText(lease) || "nobody"} to ${name}`,
        (tenure, common) =>
          tenure.session.change("ElectionService.Preempt", (attempt) => {
            const { lease, ...rest } = common(attempt);
            const drainBound = durationOf(invocation, "drain");
            return ElectionServicePreemptRequest.fromPartial({ ...rest, candidate: { lease, name }, note, drainBound });
          }),
      );
    },
  },
  {
    path: ["leases", "release"],
    summary: "End a running term against its holder's will, safely: it is not renewed and runs out",
    positionals: [{ name: "NAME" }],
    flags: reasonedChangeFlags,
    examples: [["tenure leases release billing/scheduler --reason 'holder hangs'", "free when its term has run out"]],
    run(invocation) {
      const note = requiredReason(invocation);
      return changeLease(
        invocation,
        (lease) => `revoke the term of ${holderText(lease) || "nobody"} on ${leaseKind.name(lease)}`,
        (tenure, common) =>
          tenure.session.change("LeaseService.Revoke", (attempt) =>
            LeaseServiceRevokeRequest.fromPartial({ ...common(attempt), note }),
          ),
      );
    },
  },
  {
    path: ["leases", "delete"],
    summary: "Delete a lease; a running term is not freed at once",
    positionals: [{ name: "NAME" }],
    flags: changeFlags,
    examples: [["tenure leases delete billing/old --yes", "its last token is kept, so that none is ever reused"]],
    run: (invocation) =>
      changeLease(
        invocation,
        (lease) => `delete ${leaseKind.name(lease)}`,
        (tenure, common) =>
          tenure.session.change("LeaseService.Delete", (attempt) =>
            LeaseServiceDeleteRequest.fromPartial({ ...common(attempt), note: reasonOf(invocation) }),
          ),
      ),
  },
];

function durationOf({ values }: Invocation, flag: string) {
  const ms = values.durationMs(flag);
  return ms === undefined ? undefined : durationFromMs(ms);
}
