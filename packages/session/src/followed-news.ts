import {
  type CandidateKey,
  CandidateServiceAckRequest,
  CandidateServiceAckResponse,
  CandidateServiceRegisterRequest,
  CandidateServiceUpdateRequest,
  CandidateServiceWithdrawRequest,
  LeaseServiceAcceptResponse,
  leaseKeyToWire,
  type SessionPush,
} from "@tenure/contracts";
import { type LeaseKey, leaseKey } from "@tenure/core";
import type { News } from "./news.ts";
import { holdsStart, type PackedGroup } from "./renewal-groups.ts";

/** Leases that one session hears news of; the holders of more learn the rest by their renewals. */
const mostFollowed = 100_000;

/** Candidates that one session hears news of; a client of more reads the records of the rest. */
const mostCandidates = 10_000;

interface Followed {
  /** The client's terms of the lease: the name of each hold by its token. */
  readonly tokens: Map<bigint, string>;
  readonly candidates: Set<string>;
  readonly unfollow: () => void;
}

/** Told what concerns the client. */
export interface NewsPort {
  push(push: SessionPush): void;
  /** A term of the client is over; its name is `<partition>.<hold>`. */
  onTermOver(name: string): void;
}

/**
 * What one client hears of: the terms that it renews and the candidates that it registered or answered for, once the
 * store has said that they are its own. Only what concerns them is passed on.
 */
export class FollowedNews {
  readonly #news: News;
  readonly #principal: string;
  readonly #port: NewsPort;
  readonly #leases = new Map<LeaseKey, Followed>();
  readonly #holds = new Set<string>();
  /** By partition the holds of its last renewal, packed, if all of them are followed. */
  readonly #seen = new Map<number, Uint8Array>();
  #candidates = 0;
  #fresh: CandidateKey[] = [];

  constructor(news: News, principal: string, port: NewsPort) {
    this.#news = news;
    this.#principal = principal;
    this.#port = port;
  }

  /** The client renews these holds: their terms are its own if it is their principal. */
  onRenewal({ bytes, holdIds, partition }: PackedGroup): void {
    const start = holdsStart(bytes);
    const seen = this.#seen.get(partition);
    // A client renews the same holds again and again.
    if (seen !== undefined && isRest(seen, bytes, start)) return;
    let isAll = true;
    for (const holdId of holdIds) isAll = this.#followTerm(partition, holdId) && isAll;
    if (isAll) this.#seen.set(partition, bytes.slice(start));
    else this.#seen.delete(partition);
  }

  /**
   * A call of the client was answered: it may have shown that a candidate is the client's. Throws for bytes that are no
   * such message.
   */
  onAnswered(method: string, request: Uint8Array, response: Uint8Array): void {
    if (method === "LeaseService.Accept") {
      this.#onAccepted(LeaseServiceAcceptResponse.decode(response));
    } else if (method === "CandidateService.Register") {
      this.#addCandidate(CandidateServiceRegisterRequest.decode(request).candidate);
    } else if (method === "CandidateService.Update") {
      this.#addCandidate(CandidateServiceUpdateRequest.decode(request).candidate);
    } else if (method === "CandidateService.Withdraw") {
      this.#dropCandidate(CandidateServiceWithdrawRequest.decode(request).candidate);
    } else if (method === "CandidateService.Ack") {
      this.#onAcked(CandidateServiceAckRequest.decode(request), CandidateServiceAckResponse.decode(response));
    }
  }

  /** The client is about to go: its candidates hear nothing more, and it gets no new ones. */
  closeCandidates(): void {
    this.#candidates = mostCandidates;
    for (const [lease, { candidates }] of [...this.#leases]) {
      candidates.clear();
      this.#forgetIdle(lease);
    }
  }

  /** The candidates that the store has said are the client's own. */
  *candidates(): Generator<CandidateKey, void, undefined> {
    for (const [key, { candidates }] of this.#leases) {
      if (candidates.size === 0) continue;
      const lease = leaseKeyToWire(key);
      for (const name of candidates) yield { lease, name };
    }
  }

  /** The candidates that have become the client's own since this was asked for. */
  takeFresh(): readonly CandidateKey[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  close(): void {
    for (const { unfollow } of this.#leases.values()) unfollow();
    this.#leases.clear();
    this.#holds.clear();
    this.#seen.clear();
  }

  /** A candidate that the store knows as the client's has the position of its answer in the log. */
  #onAcked({ answers }: CandidateServiceAckRequest, { renewalRevisions }: CandidateServiceAckResponse): void {
    answers.forEach(({ candidate }, place) => {
      if ((renewalRevisions[place] ?? 0n) > 0n) this.#addCandidate(candidate);
    });
  }

  /** A term that an election gave may be asked to finish before its first renewal. */
  #onAccepted({ grant }: LeaseServiceAcceptResponse): void {
    if (grant?.lease === undefined || grant.hold === undefined) return;
    const { holdId, partition, token } = grant.hold;
    const followed = this.#follow(leaseKey(grant.lease.namespace, grant.lease.name));
    if (followed === undefined) return;
    const name = `${partition}.${holdId}`;
    this.#holds.add(name);
    followed.tokens.set(token, name);
  }

  #addCandidate(key: CandidateKey | undefined): void {
    if (key?.lease === undefined || this.#candidates >= mostCandidates) return;
    const candidates = this.#follow(leaseKey(key.lease.namespace, key.lease.name))?.candidates;
    if (candidates === undefined || candidates.has(key.name)) return;
    candidates.add(key.name);
    this.#candidates += 1;
    this.#fresh.push(key);
  }

  #dropCandidate(key: CandidateKey | undefined): void {
    if (key?.lease === undefined) return;
    const lease = leaseKey(key.lease.namespace, key.lease.name);
    if (this.#leases.get(lease)?.candidates.delete(key.name)) this.#candidates -= 1;
    this.#forgetIdle(lease);
  }

  /** Whether the hold's term is followed. */
  #followTerm(partition: number, holdId: number): boolean {
    const name = `${partition}.${holdId}`;
    if (this.#holds.has(name)) return true;
    const term = this.#news.termOf(partition, holdId);
    if (term === undefined || term.principal !== this.#principal) return false;
    const followed = this.#follow(term.lease);
    if (followed === undefined) return false;
    this.#holds.add(name);
    followed.tokens.set(term.token, name);
    return true;
  }

  #follow(lease: LeaseKey): Followed | undefined {
    const known = this.#leases.get(lease);
    if (known !== undefined) return known;
    if (this.#leases.size >= mostFollowed) return undefined;
    const unfollow = this.#news.follow(
      lease,
      (push) => this.#hear(lease, push),
      (tokens) => this.#onRunning(lease, tokens),
    );
    const followed = { tokens: new Map<bigint, string>(), candidates: new Set<string>(), unfollow };
    this.#leases.set(lease, followed);
    return followed;
  }

  #hear(lease: LeaseKey, push: SessionPush): void {
    const followed = this.#leases.get(lease);
    if (followed === undefined || !isFor(followed, push)) return;
    this.#port.push(push);
    if (push.push?.$case !== "termEnded") return;
    this.#endTerm(followed, push.push.value.token);
    this.#forgetIdle(lease);
  }

  /** A term that ended before its lease was heard of is never told as ended: without this it would be followed for ever. */
  #onRunning(lease: LeaseKey, running: ReadonlySet<bigint>): void {
    const followed = this.#leases.get(lease);
    if (followed === undefined) return;
    for (const token of [...followed.tokens.keys()]) if (!running.has(token)) this.#endTerm(followed, token);
    this.#forgetIdle(lease);
  }

  #endTerm({ tokens }: Followed, token: bigint): void {
    const name = tokens.get(token) ?? "";
    tokens.delete(token);
    this.#holds.delete(name);
    this.#seen.clear();
    this.#port.onTermOver(name);
  }

  #forgetIdle(lease: LeaseKey): void {
    const followed = this.#leases.get(lease);
    if (followed === undefined || followed.tokens.size + followed.candidates.size > 0) return;
    followed.unfollow();
    this.#leases.delete(lease);
  }
}

/** Whether the bytes from `start` on are these. */
function isRest(seen: Uint8Array, bytes: Uint8Array, start: number): boolean {
  if (seen.length !== bytes.length - start) return false;
  for (let at = 0; at < seen.length; at += 1) if (seen[at] !== bytes[start + at]) return false;
  return true;
}

function isFor({ candidates, tokens }: Followed, { push }: SessionPush): boolean {
  switch (push?.$case) {
    case "ping":
    case "pending":
      return candidates.has(push.value.candidate?.name ?? "");
    case "endOfTerm":
      return push.value.endOfTerm === undefined ? tokens.size > 0 : tokens.has(push.value.endOfTerm.token);
    case "termEnded":
      return tokens.has(push.value.token);
    default:
      return false;
  }
}
