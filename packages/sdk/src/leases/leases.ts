import {
  type Attempt,
  type Lease,
  LeaseSelector,
  LeaseServiceCreateRequest,
  LeaseServiceDeleteRequest,
  LeaseServiceGetRequest,
  LeaseServiceHistoryRequest,
  LeaseServiceListRequest,
  LeaseServiceRevokeRequest,
  LeaseServiceUpdateRequest,
  type LeaseSpec,
  ReadConsistency,
  type Transition,
} from "@tenure/contracts";
import { isTenureError, TenureError } from "../errors.ts";
import type { GuardReader, GuardReadOptions, RequestOptions } from "../guard/guard.ts";
import { callOptions, LeaseReader } from "../guard/lease-reader.ts";
import { read } from "../guard/retrying-read.ts";
import type { ClientContext } from "../instance/client-context.ts";
import { type WatchNews, watchLeases } from "../observe/resuming-watch.ts";
import type { LeaseInput } from "../term/lease-name.ts";

/** Which leases: all, those of a namespace, those whose name begins with a text. */
export interface LeaseQuery {
  readonly namespace?: string | undefined;
  readonly namePrefix?: string | undefined;
}

/** What may be set on a lease; see the API for every field. */
export type LeaseSpecInput = Parameters<typeof LeaseSpec.fromPartial>[0];

/** How fresh, and whatever every call takes. */
export type ReadInput = GuardReadOptions;

/** What is known at the end of a lease's history. */
export interface HistoryEnd {
  /** Whether older lines existed and were dropped: the store keeps the newest only. */
  readonly isTruncated: boolean;
}

/** The records of leases, as the API has them. Reads are linearizable unless they ask for less. */
export class Leases {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /** The record of a lease; undefined if the name does not exist. */
  async get(lease: LeaseInput, options: ReadInput = {}): Promise<Lease | undefined> {
    const request = LeaseServiceGetRequest.fromPartial({
      lease: this.#context.leaseName(lease),
      read: readOf(options),
    });
    try {
      return (await read(this.#context, "LeaseService.Get", request, options)).lease;
    } catch (error) {
      if (isTenureError(error) && error.reason === "LEASE_NOT_FOUND") return undefined;
      throw error;
    }
  }

  /** Records in order of namespace and name, read page by page. */
  async *list(query: LeaseQuery = {}, options: ReadInput = {}): AsyncGenerator<Lease, void, undefined> {
    const selector = selectorOf(query);
    let token = "";
    do {
      const request = LeaseServiceListRequest.fromPartial({ selector, read: readOf(options), page: { token } });
      const { leases, page } = await read(this.#context, "LeaseService.List", request, options);
      yield* leases;
      token = page?.nextToken ?? "";
    } while (token !== "");
  }

  /** Who held a lease, when, and why each term ended, newest first. Returns whether that is all that ever happened. */
  async *history(lease: LeaseInput, options: ReadInput = {}): AsyncGenerator<Transition, HistoryEnd, undefined> {
    const key = this.#context.leaseName(lease);
    let token = "";
    let isTruncated = false;
    do {
      const request = LeaseServiceHistoryRequest.fromPartial({ lease: key, read: readOf(options), page: { token } });
      const { transitions, page, truncated } = await read(this.#context, "LeaseService.History", request, options);
      yield* transitions;
      isTruncated ||= truncated;
      token = page?.nextToken ?? "";
    } while (token !== "");
    return { isTruncated };
  }

  /** Every change of the leases that match, for ever; see {@link watchLeases}. */
  watch(
    query: LeaseQuery = {},
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<WatchNews> {
    const selectors = [selectorOf(query)];
    return watchLeases(this.#context, { selectors, signal: options.signal });
  }

  /** Creates a free lease; ALREADY_EXISTS if the name is taken. */
  async create(lease: LeaseInput, spec: LeaseSpecInput = {}, options: RequestOptions = {}): Promise<Lease> {
    const key = this.#context.leaseName(lease);
    const make = (attempt: Attempt) => LeaseServiceCreateRequest.fromPartial({ attempt, lease: key, spec });
    const answer = await this.#context.session.change("LeaseService.Create", make, callOptions(options));
    return recordOf(answer.lease);
  }

  /** Replaces the named fields of the spec, if the revision is the expected one; applies from the next term on. */
  async update(
    lease: LeaseInput,
    change: { readonly expectedRevision: bigint; readonly spec: LeaseSpecInput; readonly fields: readonly string[] },
    options: RequestOptions = {},
  ): Promise<Lease> {
    const key = this.#context.leaseName(lease);
    const { expectedRevision, spec, fields } = change;
    const make = (attempt: Attempt) =>
      LeaseServiceUpdateRequest.fromPartial({ attempt, lease: key, expectedRevision, spec, updateMask: fields });
    const answer = await this.#context.session.change("LeaseService.Update", make, callOptions(options));
    return recordOf(answer.lease);
  }

  /** Deletes a lease. A running term is not freed at once, and its renewal undoes the deletion. */
  async delete(
    lease: LeaseInput,
    options: RequestOptions & { readonly expectedRevision?: bigint | undefined } = {},
  ): Promise<Lease> {
    const key = this.#context.leaseName(lease);
    const { expectedRevision } = options;
    const make = (attempt: Attempt) => LeaseServiceDeleteRequest.fromPartial({ attempt, lease: key, expectedRevision });
    const answer = await this.#context.session.change("LeaseService.Delete", make, callOptions(options));
    return recordOf(answer.lease);
  }

  /** Ends the running terms of a lease against their holders' will, safely: they run out. Needs a reason. */
  async revoke(
    lease: LeaseInput,
    revocation: { readonly expectedRevision: bigint; readonly reason: string },
    options: RequestOptions = {},
  ): Promise<Lease> {
    const key = this.#context.leaseName(lease);
    const { expectedRevision, reason } = revocation;
    const make = (attempt: Attempt) =>
      LeaseServiceRevokeRequest.fromPartial({ attempt, lease: key, expectedRevision, note: { reason } });
    const answer = await this.#context.session.change("LeaseService.Revoke", make, callOptions(options));
    return recordOf(answer.lease);
  }

  /** The guarded data of a lease, for those who do not hold it. */
  guarded(lease: LeaseInput): GuardReader {
    return new LeaseReader(this.#context, this.#context.leaseName(lease));
  }
}

function selectorOf({ namespace = "", namePrefix = "" }: LeaseQuery): LeaseSelector {
  return LeaseSelector.fromPartial({ namespace, namePrefix });
}

function readOf({ consistency }: ReadInput): { readonly consistency: ReadConsistency } {
  return { consistency: consistency === "plain" ? ReadConsistency.PLAIN : ReadConsistency.LINEARIZABLE };
}

function recordOf(lease: Lease | undefined): Lease {
  if (lease !== undefined) return lease;
  const message = "the service answered a change without the record";
  throw new TenureError({ code: "INTERNAL", reason: "MALFORMED_MESSAGE", message });
}
