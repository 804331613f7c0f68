import { hash32 } from "@tenure/core";
import { Fault, invalid } from "@tenure/kernel";
import type { PageRequest } from "../../gen/tenure/v1/read.ts";

/** How many records a page has unless the caller says so, and at most. */
export const defaultPageSize = 500;
export const maximumPageSize = 5_000;

/** Where a list goes on. */
export interface PageToken {
  /** The log position that the whole list shows. */
  readonly revision: bigint;
  /** The last record of the page before, in the list's own order. */
  readonly after: string;
}

/** Which slice of a list is asked for. */
export interface PageSlice {
  readonly size: number;
  /** Undefined for the first page. */
  readonly from: PageToken | undefined;
}

/**
 * The slice that a request asks for. `scope` names the list: its method, selector and the deployment's incarnation; a
 * token of another list is refused.
 */
export function readPage(page: PageRequest | undefined, scope: string): PageSlice | Fault {
  const { size = 0, token = "" } = page ?? {};
  if (size > maximumPageSize) {
    return invalid([{ field: "page.size", rule: `must be at most ${maximumPageSize}`, value: String(size) }]);
  }
  const from = token === "" ? undefined : decodePageToken(token, scope);
  if (from instanceof Fault) return from;
  return { size: size === 0 ? defaultPageSize : size, from };
}

/** The token of the page that follows. Opaque to callers, and not secret. */
export function encodePageToken({ after, revision }: PageToken, scope: string): string {
  return Buffer.from(`${hash32(scope)}\n${revision}\n${after}`).toString("base64url");
}

function decodePageToken(text: string, scope: string): PageToken | Fault {
  const match = /^(\d{1,10})\n(\d{1,20})\n(.*)$/s.exec(Buffer.from(text, "base64url").toString());
  const [, hash, revision = "0", after = ""] = match ?? [];
  if (match === null || Number(hash) !== hash32(scope)) {
    const message = "page.token is not one that this deployment gave for this list: start the list anew";
    return new Fault({ code: "INVALID_ARGUMENT", reason: "TOKEN_INVALID", message });
  }
  return { revision: BigInt(revision), after };
}

/** The refusal of a token whose revision the server can no longer show. */
export function pageTokenExpired({ revision }: PageToken): Fault {
  const message = `the list at revision ${revision} is no longer kept: start it anew`;
  return new Fault({ code: "OUT_OF_RANGE", reason: "PAGE_TOKEN_EXPIRED", message, details: { revision } });
}
