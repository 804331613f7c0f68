import { type GuardedValue, GuardServiceGetRequest, GuardServiceListRequest, ReadConsistency } from "@tenure/contracts";
import { isTenureError } from "../errors.ts";
import type { CallOptions } from "../session/session.ts";
import type { LeaseName } from "../term/lease-name.ts";
import { toMs } from "../timing/duration-input.ts";
import type { GuardedEntry, GuardReader, GuardReadOptions, RequestOptions } from "./guard.ts";
import { type CallContext, read } from "./retrying-read.ts";

/** Reads the guarded data of one lease. */
export class LeaseReader implements GuardReader {
  readonly #context: CallContext;
  readonly #lease: LeaseName;

  constructor(context: CallContext, lease: LeaseName) {
    this.#context = context;
    this.#lease = lease;
  }

  async get(key: string, options: GuardReadOptions = {}): Promise<GuardedEntry | undefined> {
    const request = GuardServiceGetRequest.fromPartial({ lease: this.#lease, key, read: readOf(options) });
    try {
      const { value } = await read(this.#context, "GuardService.Get", request, options);
      return value === undefined ? undefined : entryOf(value);
    } catch (error) {
      if (isTenureError(error) && absences.has(error.reason)) return undefined;
      throw error;
    }
  }

  async *list(options: GuardReadOptions & { readonly prefix?: string | undefined } = {}): AsyncGenerator<GuardedEntry> {
    let token = "";
    do {
      const request = GuardServiceListRequest.fromPartial({
        lease: this.#lease,
        keyPrefix: options.prefix ?? "",
        read: readOf(options),
        page: { token },
      });
      const { values, page } = await read(this.#context, "GuardService.List", request, options);
      yield* values.map(entryOf);
      token = page?.nextToken ?? "";
    } while (token !== "");
  }
}

/** What reads as "there is none": a lease that was never held guards nothing. */
const absences: ReadonlySet<string> = new Set(["GUARDED_KEY_NOT_FOUND", "LEASE_NOT_FOUND"]);

/** The options of a call as the session takes them. */
export function callOptions({ signal, timeout }: RequestOptions): CallOptions {
  return { signal, ...(timeout === undefined ? {} : { timeoutMs: toMs(timeout, "timeout") }) };
}

function readOf({ consistency }: GuardReadOptions): { readonly consistency: ReadConsistency } {
  return { consistency: consistency === "plain" ? ReadConsistency.PLAIN : ReadConsistency.LINEARIZABLE };
}

function entryOf({ key, value, revision, token, holder }: GuardedValue): GuardedEntry {
  // Decoded bytes are views of the whole message: a copy lets the message go.
  const bytes = value.slice();
  return { key, value: bytes, text: new TextDecoder().decode(bytes), revision, token, holder };
}
