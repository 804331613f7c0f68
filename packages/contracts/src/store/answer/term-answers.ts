import type { Grant as CoreGrant, RenewalResult as CoreRenewalResult, PartitionState, Reply } from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import { failureFromFault } from "../../fault-codec.ts";
import type { Grant } from "../../gen/tenure/v1/claim.ts";
import { Hold } from "../../gen/tenure/v1/hold.ts";
import type {
  LeaseServiceAcceptResponse,
  LeaseServiceAcquireResponse,
  LeaseServiceReleaseResponse,
  LeaseServiceRenewResponse,
  LeaseServiceStealResponse,
} from "../../gen/tenure/v1/lease.ts";
import type { Renewal, RenewalResult } from "../../gen/tenure/v1/renewal.ts";
import { runningHoldToWire } from "../record/lease-to-wire.ts";
import { leaseKeyToWire } from "../value/key.ts";
import { type AnswerView, answerOf, refusalFault, revisionOf } from "./answer.ts";

/** The answer to LeaseService.Acquire. */
export function acquireResponse(reply: Reply, view: AnswerView): LeaseServiceAcquireResponse | Fault {
  return answerOf(reply, "granted", (granted) => {
    const revision = revisionOf(granted);
    return { grants: granted.grants.map((grant) => grantToWire(grant, revision, view.state)) };
  });
}

/** The answer to LeaseService.Accept. */
export function acceptResponse(reply: Reply, view: AnswerView): LeaseServiceAcceptResponse | Fault {
  return oneGrant(reply, view);
}

/** The answer to LeaseService.Steal. */
export function stealResponse(reply: Reply, view: AnswerView): LeaseServiceStealResponse | Fault {
  return oneGrant(reply, view);
}

function oneGrant(reply: Reply, { state }: AnswerView): { readonly grant: Grant | undefined } | Fault {
  return answerOf(reply, "granted", (granted) => {
    const [grant] = granted.grants;
    return { grant: grant && grantToWire(grant, revisionOf(granted), state) };
  });
}

function grantToWire({ holdId, lease, sendNumber, token }: CoreGrant, revision: bigint, state: PartitionState): Grant {
  const hold = state.holds.get(holdId);
  return {
    lease: leaseKeyToWire(lease),
    hold: hold === undefined ? pastHold(holdId, lease, token, state) : runningHoldToWire(hold, state.partition),
    sendNumber,
    revision,
  };
}

/** A term that is over, as a late duplicate of its claim still learns it: its numbers, and who held. */
function pastHold(holdId: number, lease: string, token: bigint, { leases, partition }: PartitionState): Hold {
  const line = leases.get(lease)?.history.find((other) => other.kind === "granted" && other.token === token);
  return Hold.create({ holdId: BigInt(holdId), partition, token, holder: line?.holder ?? "" });
}

/** The answer to LeaseService.Release. */
export function releaseResponse(reply: Reply): LeaseServiceReleaseResponse | Fault {
  return answerOf(reply, "released", (released) => {
    return { released: released.released, revision: revisionOf(released) };
  });
}

/** The answer to LeaseService.Renew; the results alone answer KeepAlive. */
export function renewResponse(renewals: readonly Renewal[], reply: Reply): LeaseServiceRenewResponse | Fault {
  return answerOf(reply, "renewals", (answered) => {
    const revision = revisionOf(answered);
    const results = renewals.map((renewal, place) => resultToWire(renewal, answered.results[place], revision));
    return { results };
  });
}

function resultToWire(
  { lease, token }: Renewal,
  result: CoreRenewalResult | undefined,
  renewalRevision: bigint,
): RenewalResult {
  if (result?.kind === "renewed") {
    const { isEnding: endOfTerm, sendNumber, successor } = result;
    return { lease, token, sendNumber, renewalRevision, successor, endOfTerm, failure: undefined };
  }
  const failure = result && failureFromFault(refusalFault(result));
  const isEnding = result?.kind === "endOfTerm";
  const successor = isEnding ? result.successor : "";
  return { lease, token, sendNumber: 0n, renewalRevision: 0n, successor, endOfTerm: isEnding, failure };
}
