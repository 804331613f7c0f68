import { createHash } from "node:crypto";
import {
  decodeRenewals,
  type EndingHold,
  failureFromFault,
  type LeaseServiceKeepAliveRequest,
  type LeaseServiceKeepAliveResponse,
  LeaseServiceRenewRequest,
  LeaseServiceRenewResponse,
  mostRenewals,
  type PackedRefusal,
  type Renewal,
  RenewalResult,
} from "@tenure/contracts";
import { type LeaseKey, leaseKey, partitionOf } from "@tenure/core";
import { Fault, invalid, toFault } from "@tenure/kernel";
import { limitExceeded, type OwnerPort, type RenewalClient, type RenewalPort } from "@tenure/session";
import { OpenRenewals } from "./open-renewals.ts";

/** What renewals on a stream stand on. */
export interface KeepAliveServices {
  readonly store: OwnerPort;
  readonly renewals: RenewalPort;
  readonly partitions: number;
  /** The running term of a lease by token, as the log has it; undefined when it is not known here. */
  holdOf(lease: LeaseKey, token: bigint): { readonly holdId: number; readonly partition: number } | undefined;
}

/** How long an owner may take to answer; the next renewal of the client follows in any case. */
const renewTimeoutMs = 5_000;
/**
 * What an owner says of a term that has ended, when it is asked by the term's number. This gateway may not have read of
 * the end yet; asked by name, the owner says how it ended.
 */
const goneReason = "TERM_EXPIRED";
/** Calls by name that one stream may have under way: a message needs one per partition. */
const mostOpenByName = 256;

/**
 * The renewals of one stock client. Terms that this gateway knows from the log travel packed, with those of all other
 * clients; one that it does not know, whose duration is to change, or that is under way with the same send number, is
 * asked for by its name at its owner. Either way the answer is the owner's, of that very renewal.
 */
export class KeepAlive implements RenewalClient {
  readonly principal: string;
  readonly #services: KeepAliveServices;
  readonly #send: (message: LeaseServiceKeepAliveResponse) => void;
  readonly #open = new OpenRenewals<Renewal>();
  #openByName = 0;
  #renewKey: Uint8Array = new Uint8Array(0);
  renewKeyHash: Uint8Array = new Uint8Array(0);

  constructor(services: KeepAliveServices, principal: string, send: (message: LeaseServiceKeepAliveResponse) => void) {
    this.#services = services;
    this.principal = principal;
    this.#send = send;
  }

  /** Renews what a message names. Throws INVALID_ARGUMENT for a message with too much. */
  receive({ renewals, renewKey }: LeaseServiceKeepAliveRequest): void {
    if (renewals.length > mostRenewals) {
      const rule = `must have at most ${mostRenewals} entries`;
      throw invalid([{ field: "renewals", rule, value: String(renewals.length) }]);
    }
    if (renewKey.length > 0) {
      this.#renewKey = renewKey;
      this.renewKeyHash = createHash("sha256").update(renewKey).digest();
    }
    const byName = renewals.filter((renewal) => !this.#pack(renewal));
    const packed = this.#open.pack();
    if (packed.length > 0) this.#services.renewals.renew(this, packed);
    for (const part of this.#byPartition(byName)) this.#renewByName(part);
  }

  /** Whether every renewal was answered. */
  get isIdle(): boolean {
    return this.#open.size + this.#openByName === 0;
  }

  onRenewed(acks: Uint8Array, endings: readonly EndingHold[], revision: bigint): void {
    const successors = new Map(endings.map(({ holdId, successor }) => [Number(holdId), successor]));
    const results: RenewalResult[] = [];
    for (const { holdIds, partition, sendNumber } of decodeRenewals(acks)) {
      for (const holdId of holdIds) {
        const renewal = this.#open.take(partition, holdId, sendNumber);
        if (renewal === undefined) continue;
        const { lease, token } = renewal;
        const successor = successors.get(holdId);
        results.push({
          lease,
          token,
          sendNumber: BigInt(sendNumber),
          renewalRevision: revision,
          successor: successor ?? "",
          endOfTerm: successor !== undefined,
          failure: undefined,
        });
      }
    }
    this.#send({ results });
  }

  onRefused(refusals: readonly PackedRefusal[]): void {
    const results: RenewalResult[] = [];
    const gone: Renewal[] = [];
    for (const { failure, holdId, partition, sendNumber } of refusals) {
      const renewal = this.#open.take(partition, holdId, sendNumber);
      if (renewal === undefined) continue;
      const isGone = failure?.detail?.reasonName === goneReason;
      // What one call does not take is told as it is: that it is over is true.
      if (isGone && gone.length < mostRenewals) gone.push(renewal);
      else results.push(RenewalResult.fromPartial({ lease: renewal.lease, token: renewal.token, failure }));
    }
    // First, because a client that has closed its side is left as soon as it was told something and nothing is open.
    for (const part of this.#byPartition(gone)) this.#renewByName(part);
    if (results.length > 0) this.#send({ results });
  }

  #pack(renewal: Renewal): boolean {
    const { lease, leaseDuration, sendNumber, token } = renewal;
    if (lease === undefined || leaseDuration !== undefined) return false;
    const hold = this.#services.holdOf(leaseKey(lease.namespace, lease.name), token);
    return hold !== undefined && this.#open.add(renewal, hold.partition, hold.holdId, sendNumber);
  }

  #byPartition(renewals: readonly Renewal[]): readonly (readonly [number, readonly Renewal[]])[] {
    const parts = new Map<number, Renewal[]>();
    for (const renewal of renewals) {
      const { lease } = renewal;
      const partition = partitionOf(leaseKey(lease?.namespace ?? "", lease?.name ?? ""), this.#services.partitions);
      const part = parts.get(partition);
      if (part === undefined) parts.set(partition, [renewal]);
      else part.push(renewal);
    }
    return [...parts];
  }

  #renewByName([partition, renewals]: readonly [number, readonly Renewal[]]): void {
    if (this.#openByName >= mostOpenByName) {
      this.#send({ results: failures(renewals, tooManyOpen()) });
      return;
    }
    this.#openByName += 1;
    const request = LeaseServiceRenewRequest.encode({ renewals, renewKey: this.#renewKey }).finish();
    const options = { principal: this.principal, deadlineMs: renewTimeoutMs };
    this.#services.store.startAtOwner("LeaseService.Renew", partition, request, options, (outcome) => {
      this.#openByName -= 1;
      this.#send({ results: outcome instanceof Fault ? failures(renewals, outcome) : decode(outcome, renewals) });
    });
  }
}

function tooManyOpen(): Fault {
  const text = `${mostOpenByName} calls of this stream wait for their owners`;
  return limitExceeded("open-calls-per-stream", mostOpenByName, text);
}

function decode(bytes: Uint8Array, renewals: readonly Renewal[]): readonly RenewalResult[] {
  try {
    return LeaseServiceRenewResponse.decode(bytes).results;
  } catch (thrown) {
    return failures(renewals, toFault(thrown));
  }
}

function failures(renewals: readonly Renewal[], fault: Fault): readonly RenewalResult[] {
  const failure = failureFromFault(fault);
  return renewals.map(({ lease, token }) => RenewalResult.fromPartial({ lease, token, failure }));
}
