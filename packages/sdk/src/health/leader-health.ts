import type { IncomingMessage, ServerResponse } from "node:http";
import type { RunningTerm } from "../instance/running-terms.ts";
import { type LeaseName, showLease } from "../term/lease-name.ts";
import { type DurationInput, toMs } from "../timing/duration-input.ts";

/** Where the handler looks: a client, or anything that knows its running terms. */
export interface TermSource {
  /** The running term of a lease, if this process has one. */
  termOf(lease: LeaseName): RunningTerm | undefined;
}

/** What may be said about health. */
export interface HealthOptions {
  /** How long after L without a proven renewal a leader still counts as healthy. Default 20 s, as in client-go. */
  readonly grace?: DurationInput | undefined;
}

/** What an answer says, as JSON. */
export interface HealthAnswer {
  readonly lease: string;
  readonly role: "leader" | "standby";
  /** The term's token, as text because it may exceed what JSON numbers keep; absent on a standby. */
  readonly token?: string;
  readonly holder?: string;
  /** Ms until this process may act no more. */
  readonly remainingMs?: number;
}

/** Answers a request if its path is one of the handler's; says whether it did. */
export type HealthHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** As client-go's health adaptor is used by Kubernetes' components. */
const defaultGraceMs = 20_000;

/**
 * A handler for node:http that load balancers and probes understand. `GET /leader` is 200 only while this process may
 * act by its own clock, `GET /standby` the reverse, 503 otherwise. `GET /healthz` fails only on a leader whose last
 * proven renewal is older than L plus the grace (statement 35); a standby is healthy. HEAD and OPTIONS work too.
 *
 * With several leases, `/leader` needs all of them and `/healthz` fails with any of them.
 *
 * Do not make `/leader` the readiness of a rolling update: only one copy is ever ready.
 */
export function leaderHealth(
  source: TermSource,
  leases: readonly LeaseName[],
  options: HealthOptions = {},
): HealthHandler {
  const graceMs = toMs(options.grace ?? defaultGraceMs, "grace");
  return (request, response) => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const judge = judges[path];
    if (judge === undefined) return false;
    const terms = leases.map((lease) => source.termOf(lease));
    answer(
      request,
      response,
      judge(terms, graceMs),
      leases.map((lease, index) => describe(lease, terms[index])),
    );
    return true;
  };
}

type Judge = (terms: readonly (RunningTerm | undefined)[], graceMs: number) => boolean;

const judges: Readonly<Record<string, Judge>> = {
  "/leader": (terms) => terms.every(isLeading),
  "/standby": (terms) => !terms.every(isLeading),
  "/healthz": (terms, graceMs) => terms.every((term) => isHealthy(term, graceMs)),
};

function isLeading(term: RunningTerm | undefined): boolean {
  return term !== undefined && term.remainingMs > 0;
}

/** Whether a leader that cannot renew still makes way in time; it is stuck when its function outlives L and the grace. */
export function isHealthy(term: RunningTerm | undefined, graceMs: number): boolean {
  return term === undefined || term.provenAgeMs <= term.leaseDurationMs + graceMs;
}

function describe(lease: LeaseName, term: RunningTerm | undefined): HealthAnswer {
  const name = showLease(lease);
  const remainingMs = term?.remainingMs ?? 0;
  if (term === undefined || remainingMs === 0) return { lease: name, role: "standby" };
  const { token, holder } = term;
  return { lease: name, role: "leader", token: String(token), holder, remainingMs: Math.floor(remainingMs) };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  isGood: boolean,
  body: readonly HealthAnswer[],
): void {
  const { method = "GET" } = request;
  if (method === "OPTIONS") {
    response.writeHead(204, { allow: "GET, HEAD, OPTIONS" }).end();
    return;
  }
  if (method !== "GET" && method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD, OPTIONS" }).end();
    return;
  }
  const text = `${JSON.stringify(body.length === 1 ? body[0] : body)}\n`;
  response.writeHead(isGood ? 200 : 503, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(method === "HEAD" ? undefined : text);
}
