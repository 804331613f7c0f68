import {
  type CandidateKey,
  CandidateKey as CandidateKeyCodec,
  CandidateServiceAckRequest,
  type SessionPush,
} from "@tenure/contracts";
import { type LeaseKey, leaseKey } from "@tenure/core";
import type { News } from "./news.ts";
import type { PackedGroup } from "./renewal-groups.ts";
import { wireField } from "./wire-field.ts";

/** Leases that one session hears news of; the holders of more learn the rest by their renewals. */
const mostFollowed = 100_000;

interface Followed {
  /** The client's terms of the lease: the name of each hold by its token. */
  readonly tokens: Map<bigint, string>;
  readonly candidates: Set<string>;
  readonly unfollow: () => void;
}

/**
 * What one client hears of: the terms that it renews and the candidates that it registered or answered for. Only what
 * concerns them is passed on.
 */
export class FollowedNews {
  readonly #news: News;
  readonly #principal: string;
  readonly #push: (push: SessionPush) => void;
  readonly #leases = new Map<LeaseKey, Followed>();
  readonly #holds = new Set<string>();

  constructor(news: News, principal: string, push: (push: SessionPush) => void) {
    this.#news = news;
    this.#principal = principal;
    this.#push = push;
  }

  /** The client renews these holds: their terms are its own if it is their principal. */
  onRenewal({ holdIds, partition }: PackedGroup): void {
    for (const holdId of holdIds) {
      const name = `${partition}.${holdId}`;
      if (this.#holds.has(name)) continue;
      const term = this.#news.termOf(partition, holdId);
      if (term === undefined || term.principal !== this.#principal) continue;
      const followed = this.#follow(term.lease);
      if (followed === undefined) return;
      this.#holds.add(name);
      followed.tokens.set(term.token, name);
    }
  }

  /** A call of the client was answered: it may have shown that a candidate is the client's. */
  onAnswered(method: string, request: Uint8Array): void {
    if (method === "CandidateService.Ack") {
      for (const { candidate } of CandidateServiceAckRequest.decode(request).answers) this.#addCandidate(candidate);
    } else if (method === "CandidateService.Register" || method === "CandidateService.Update") {
      this.#addCandidate(candidateOf(request));
    } else if (method === "CandidateService.Withdraw") this.#dropCandidate(candidateOf(request));
  }

  close(): void {
    for (const { unfollow } of this.#leases.values()) unfollow();
    this.#leases.clear();
    this.#holds.clear();
  }

  #addCandidate(key: CandidateKey | undefined): void {
    if (key?.lease === undefined) return;
    this.#follow(leaseKey(key.lease.namespace, key.lease.name))?.candidates.add(key.name);
  }

  #dropCandidate(key: CandidateKey | undefined): void {
    if (key?.lease === undefined) return;
    const lease = leaseKey(key.lease.namespace, key.lease.name);
    this.#leases.get(lease)?.candidates.delete(key.name);
    this.#forgetIdle(lease);
  }

  #follow(lease: LeaseKey): Followed | undefined {
    const known = this.#leases.get(lease);
    if (known !== undefined) return known;
    if (this.#leases.size >= mostFollowed) return undefined;
    const unfollow = this.#news.follow(lease, (push) => this.#hear(lease, push));
    const followed = { tokens: new Map<bigint, string>(), candidates: new Set<string>(), unfollow };
    this.#leases.set(lease, followed);
    return followed;
  }

  #hear(lease: LeaseKey, push: SessionPush): void {
    const followed = this.#leases.get(lease);
    if (followed === undefined || !isFor(followed, push)) return;
    this.#push(push);
    if (push.push?.$case !== "termEnded") return;
    this.#holds.delete(followed.tokens.get(push.push.value.token) ?? "");
    followed.tokens.delete(push.push.value.token);
    this.#forgetIdle(lease);
  }

  #forgetIdle(lease: LeaseKey): void {
    const followed = this.#leases.get(lease);
    if (followed === undefined || followed.tokens.size + followed.candidates.size > 0) return;
    followed.unfollow();
    this.#leases.delete(lease);
  }
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

/** The candidate of a change: its field 2. */
function candidateOf(request: Uint8Array): CandidateKey | undefined {
  const bytes = wireField(request, 2);
  return bytes === undefined ? undefined : CandidateKeyCodec.decode(bytes);
}
