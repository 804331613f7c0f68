import { existingLease, type LeaseKey, type LeaseRecord } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import type { CandidateServiceGetResponse } from "../../gen/tenure/v1/candidate.ts";
import type {
  GuardServiceGetResponse,
  GuardServiceListRequest,
  GuardServiceListResponse,
} from "../../gen/tenure/v1/guard.ts";
import type {
  LeaseServiceGetResponse,
  LeaseServiceHistoryRequest,
  LeaseServiceHistoryResponse,
} from "../../gen/tenure/v1/lease.ts";
import type { Page } from "../../gen/tenure/v1/read.ts";
import { candidateToWire } from "../record/candidate-to-wire.ts";
import { guardedValueToWire } from "../record/guarded-to-wire.ts";
import { leaseToWire } from "../record/lease-to-wire.ts";
import { transitionToWire } from "../record/transition-to-wire.ts";
import { encodePageToken, type PageSlice, readPage } from "../select/page.ts";
import { type AnswerView, recordView, refusalFault } from "./answer.ts";

const noBytes = new Uint8Array(0);

/** The answer to LeaseService.Get. */
export function leaseGetResponse(lease: LeaseKey, view: AnswerView): LeaseServiceGetResponse | Fault {
  const record = existingLease(view.state, lease);
  if (record === undefined) return refusalFault({ kind: "leaseNotFound", lease });
  return { lease: leaseToWire(record, recordView(view)), revision: view.state.lastSequence };
}

/** The answer to CandidateService.Get. */
export function candidateGetResponse(
  lease: LeaseKey,
  candidate: string,
  { now, state }: AnswerView,
): CandidateServiceGetResponse | Fault {
  const record = state.leases.get(lease)?.candidates?.get(candidate);
  if (record === undefined) return refusalFault({ kind: "candidateNotFound", lease, candidate });
  return { candidate: candidateToWire(lease, record, now), revision: state.lastSequence };
}

/** The answer to GuardService.Get. */
export function guardGetResponse(lease: LeaseKey, key: string, { state }: AnswerView): GuardServiceGetResponse | Fault {
  const record = existingLease(state, lease);
  if (record === undefined) return refusalFault({ kind: "leaseNotFound", lease });
  const stored = record.guarded?.get(key);
  if (stored !== undefined) return { value: guardedValueToWire(key, stored), revision: state.lastSequence };
  const message = `lease ${lease} guards no value under ${key}`;
  return new Fault({ code: "NOT_FOUND", reason: "GUARDED_KEY_NOT_FOUND", message, details: { lease } });
}

/**
 * The answer to GuardService.List. Pages of values that change between them show each key as it is when its page is
 * read; a key that is there throughout is shown exactly once.
 */
export function guardListResponse(
  lease: LeaseKey,
  request: GuardServiceListRequest,
  { state }: AnswerView,
): GuardServiceListResponse | Fault {
  const { keyPrefix, keysOnly } = request;
  const record = existingLease(state, lease);
  if (record === undefined) return refusalFault({ kind: "leaseNotFound", lease });
  const scope = `guarded ${lease} ${keyPrefix}`;
  const slice = readPage(request.page, scope);
  if (slice instanceof Fault) return slice;
  const after = slice.from?.after ?? "";
  const stored = [...(record.guarded ?? [])].filter(([key]) => key.startsWith(keyPrefix) && key > after);
  stored.sort(([left], [right]) => (left < right ? -1 : 1));
  const shown = stored.slice(0, slice.size);
  const values = shown.map(([key, value]) => guardedValueToWire(key, value, keysOnly));
  const last = shown.at(-1)?.[0] ?? "";
  return { values, page: pageOf(slice, stored.length > shown.length ? last : "", scope, state.lastSequence) };
}

/** The answer to LeaseService.History, newest first. A name of which nothing is kept has none. */
export function historyResponse(
  lease: LeaseKey,
  request: LeaseServiceHistoryRequest,
  { state }: AnswerView,
): LeaseServiceHistoryResponse | Fault {
  const record = state.leases.get(lease);
  if (record === undefined) return refusalFault({ kind: "leaseNotFound", lease });
  const scope = `history ${lease} ${request.afterRevision}`;
  const slice = readPage(request.page, scope);
  if (slice instanceof Fault) return slice;
  const upTo = slice.from?.revision ?? state.lastSequence;
  const lines = linesBetween(record, request.afterRevision, upTo);
  const from = Number(slice.from?.after ?? "0") || 0;
  const transitions = lines.slice(from, from + slice.size).map(transitionToWire);
  const next = from + transitions.length;
  const page = pageOf(slice, next < lines.length ? String(next) : "", scope, upTo);
  return { transitions, page, truncated: record.isHistoryTruncated };
}

function linesBetween({ history }: LeaseRecord, after: bigint, upTo: bigint): LeaseRecord["history"] {
  return history.filter(({ position }) => position.sequence > after && position.sequence <= upTo).reverse();
}

/** What a list says about its slice; `after` is empty on the last page. */
function pageOf({ from }: PageSlice, after: string, scope: string, newest: bigint): Page {
  const revision = from?.revision ?? newest;
  return { nextToken: after === "" ? "" : encodePageToken({ revision, after }, scope), revision, resumeToken: noBytes };
}
