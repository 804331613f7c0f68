import { type Attempt, type Fence, GuardServiceTransactRequest } from "@tenure/contracts";
import { type TenureError, toTenureError } from "../errors.ts";
import type { CallOptions, Session } from "../session/session.ts";
import type { LeaseName } from "../term/lease-name.ts";
import { toMs } from "../timing/duration-input.ts";
import type { Guard, GuardCondition, GuardTransaction, GuardWriteOptions, RequestOptions } from "./guard.ts";
import { LeaseReader } from "./lease-reader.ts";
import type { CallContext } from "./retrying-read.ts";

/** What guarded writes need of their term. */
export interface GuardingTerm {
  readonly lease: LeaseName;
  readonly token: bigint;
  /** Ms until the holder may act no more. Throws if it may not now. */
  checkedMs(): number;
  /** Tells the term that the store refused a write of it, which may mean that it is over. */
  noteRefusal(error: Error): void;
}

/** Guarded data under one term. No write is sent, or sent again, after the term's deadline. */
export class TermGuard extends LeaseReader implements Guard {
  readonly #session: Session;
  readonly #term: GuardingTerm;
  readonly #callTimeoutMs: number;
  readonly #fence: Fence;

  constructor(context: CallContext, term: GuardingTerm) {
    super(context, term.lease);
    this.#session = context.session;
    this.#callTimeoutMs = context.callTimeoutMs;
    this.#term = term;
    this.#fence = { lease: term.lease, token: term.token, renewKey: context.session.renewKey };
  }

  async put(key: string, value: Uint8Array | string, options: GuardWriteOptions = {}): Promise<bigint> {
    const { expectedRevision } = options;
    const write = { fence: this.#fence, key, value: bytesOf(value), expectedRevision };
    try {
      const call = this.#call(options);
      return (await this.#session.change("GuardService.Put", (attempt) => ({ attempt, ...write }), call)).revision;
    } catch (thrown) {
      throw this.#refused(thrown);
    }
  }

  async delete(key: string, options: GuardWriteOptions = {}): Promise<boolean> {
    const { expectedRevision } = options;
    const write = { fence: this.#fence, key, expectedRevision };
    try {
      const call = this.#call(options);
      return (await this.#session.change("GuardService.Delete", (attempt) => ({ attempt, ...write }), call)).deleted;
    } catch (thrown) {
      throw this.#refused(thrown);
    }
  }

  async transaction(transaction: GuardTransaction, options: RequestOptions = {}): Promise<bigint> {
    const comparisons = (transaction.if ?? []).map(comparisonOf);
    const write = { fence: this.#fence, comparisons, operations: operationsOf(transaction) };
    const make = (attempt: Attempt) => GuardServiceTransactRequest.fromPartial({ attempt, ...write });
    try {
      return (await this.#session.change("GuardService.Transact", make, this.#call(options))).revision;
    } catch (thrown) {
      throw this.#refused(thrown);
    }
  }

  /** Throws unless the holder may act now; no write is waited for beyond its deadline. */
  #call({ signal, timeout }: RequestOptions): CallOptions {
    const leftMs = this.#term.checkedMs();
    const askedMs = timeout === undefined ? this.#callTimeoutMs : toMs(timeout, "timeout");
    return { signal, timeoutMs: Math.min(askedMs, leftMs) };
  }

  #refused(thrown: unknown): TenureError {
    const error = toTenureError(thrown);
    this.#term.noteRefusal(error);
    return error;
  }
}

function comparisonOf(condition: GuardCondition) {
  return "revisionIs" in condition
    ? { key: condition.key, condition: { $case: "revisionIs" as const, value: condition.revisionIs } }
    : { key: condition.key, condition: { $case: "valueIs" as const, value: bytesOf(condition.valueIs) } };
}

function operationsOf({ put = {}, delete: deleted = [] }: GuardTransaction) {
  return [
    ...Object.entries(put).map(([key, value]) => ({
      operation: { $case: "put" as const, value: { key, value: bytesOf(value) } },
    })),
    ...deleted.map((key) => ({ operation: { $case: "delete" as const, value: key } })),
  ];
}

/** Text as UTF-8; bytes as they are. */
export function bytesOf(value: Uint8Array | string): Uint8Array {
  return typeof value === "string" ? encoder.encode(value) : value;
}

const encoder = new TextEncoder();
