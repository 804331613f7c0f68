import {
  type Attempt,
  type Fence,
  GuardServiceDeleteRequest,
  GuardServicePutRequest,
  GuardServiceTransactRequest,
} from "@tenure/contracts";
import { toTenureError } from "../errors.ts";
import type { CallOptions, Session } from "../session/session.ts";
import type { LeaseName } from "../term/lease-name.ts";
import type { Guard, GuardCondition, GuardTransaction, GuardWriteOptions, RequestOptions } from "./guard.ts";
import { callOptions, LeaseReader } from "./lease-reader.ts";
import type { CallContext } from "./retrying-read.ts";

/** What guarded writes need of their term. */
export interface GuardingTerm {
  readonly lease: LeaseName;
  readonly token: bigint;
  readonly remainingMs: number;
  check(): void;
  /** Tells the term that the store refused a write of it, which may mean that it is over. */
  noteRefusal(error: Error): void;
}

/** Guarded data under one term. No write is sent, or sent again, after the term's deadline. */
export class TermGuard extends LeaseReader implements Guard {
  readonly #session: Session;
  readonly #term: GuardingTerm;
  readonly #callTimeoutMs: number;

  constructor(context: CallContext, term: GuardingTerm) {
    super(context, term.lease);
    this.#session = context.session;
    this.#callTimeoutMs = context.callTimeoutMs;
    this.#term = term;
  }

  async put(key: string, value: Uint8Array | string, options: GuardWriteOptions = {}): Promise<bigint> {
    const { expectedRevision } = options;
    const make = (attempt: Attempt) =>
      GuardServicePutRequest.fromPartial({
        attempt,
        fence: this.#fence(),
        key,
        value: bytesOf(value),
        expectedRevision,
      });
    const { revision } = await this.#write(options, (call) => this.#session.change("GuardService.Put", make, call));
    return revision;
  }

  async delete(key: string, options: GuardWriteOptions = {}): Promise<boolean> {
    const { expectedRevision } = options;
    const make = (attempt: Attempt) =>
      GuardServiceDeleteRequest.fromPartial({ attempt, fence: this.#fence(), key, expectedRevision });
    const { deleted } = await this.#write(options, (call) => this.#session.change("GuardService.Delete", make, call));
    return deleted;
  }

  async transaction(transaction: GuardTransaction, options: RequestOptions = {}): Promise<bigint> {
    const comparisons = (transaction.if ?? []).map(comparisonOf);
    const operations = operationsOf(transaction);
    const make = (attempt: Attempt) =>
      GuardServiceTransactRequest.fromPartial({ attempt, fence: this.#fence(), comparisons, operations });
    const { revision } = await this.#write(options, (call) =>
      this.#session.change("GuardService.Transact", make, call),
    );
    return revision;
  }

  async #write<Answer>(options: RequestOptions, send: (call: CallOptions) => Promise<Answer>): Promise<Answer> {
    this.#term.check();
    const call = callOptions(options);
    const timeoutMs = Math.min(call.timeoutMs ?? this.#callTimeoutMs, this.#term.remainingMs);
    try {
      return await send({ ...call, timeoutMs });
    } catch (thrown) {
      const error = toTenureError(thrown);
      this.#term.noteRefusal(error);
      throw error;
    }
  }

  #fence(): Fence {
    const { lease, token } = this.#term;
    return { lease, token, renewKey: this.#session.renewKey };
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
  return typeof value === "string" ? new TextEncoder().encode(value) : value;
}
