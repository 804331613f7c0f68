import {
  candidateKeyToWire,
  candidateToWire,
  leaseKeyToWire,
  leaseToWire,
  type SessionPush,
  transitionToWire,
} from "@tenure/contracts";
import type { LeaseKey, LeaseRecord, Transition } from "@tenure/core";
import type { Change, ChangeSet, SeenCandidate } from "./change-set.ts";
import { ListenerIndex } from "./listener-index.ts";
import type { WatchHub } from "./watch-hub.ts";

/** Told of what concerns the holders and candidates of a lease. */
export type NewsListener = (push: SessionPush) => void;

/**
 * News of leases for sessions: terms that ended, marks of an end of term, choices to accept, pings. Delivered at most
 * once and never repeated: the records say the same. One batch is read once for all who follow its lease.
 */
export class LeaseNews {
  readonly #hub: WatchHub;
  readonly #listeners = new ListenerIndex<NewsListener>();
  readonly #unfollow = new Map<LeaseKey, () => void>();

  constructor(hub: WatchHub) {
    this.#hub = hub;
  }

  /** Tells a listener of one lease; returns what ends that. */
  follow(lease: LeaseKey, listener: NewsListener): () => void {
    const leave = this.#listeners.add(listener, [lease]);
    if (!this.#unfollow.has(lease)) {
      const onChanges = (changes: ChangeSet) => this.#tell(lease, changes);
      const unfollow = this.#hub.follow({ onChanges, onGap() {} }, { leases: [lease], wantsRenewals: false });
      this.#unfollow.set(lease, unfollow);
    }
    return () => {
      leave();
      if (this.#listeners.has(lease)) return;
      this.#unfollow.get(lease)?.();
      this.#unfollow.delete(lease);
    };
  }

  #tell(lease: LeaseKey, changes: ChangeSet): void {
    const pushes = newsOf(lease, changes);
    if (pushes.length === 0) return;
    const listeners = new Set<NewsListener>();
    this.#listeners.collect(lease, listeners);
    for (const push of pushes) for (const listener of listeners) listener(push);
  }
}

/** What a batch says to the holders and candidates of a lease, in the order in which it happened. */
function newsOf(lease: LeaseKey, set: ChangeSet): readonly SessionPush[] {
  const pushes: SessionPush[] = [];
  for (const change of set.leases) if (change.key === lease) pushes.push(...leaseNews(change, set));
  for (const change of set.candidates) if (change.key === lease) pushes.push(...pingNews(change, set));
  return pushes;
}

function leaseNews(
  { last, lines }: Change<LeaseRecord>,
  { appliedAtMs, partition, sequence }: ChangeSet,
): readonly SessionPush[] {
  const pushes: SessionPush[] = lines.flatMap((line) => lineNews(last, line, partition, appliedAtMs));
  if (last.pending?.from.sequence === sequence) {
    const { pending } = leaseToWire(last, { partition, now: appliedAtMs });
    const candidate = candidateKeyToWire(last.key, last.pending.candidate);
    pushes.push({ push: { $case: "pending", value: { candidate, pending } } });
  }
  return pushes;
}

function lineNews(record: LeaseRecord, line: Transition, partition: number, now: number): readonly SessionPush[] {
  const lease = leaseKeyToWire(record.key);
  if (line.kind === "ended") {
    const { endReason, reason: note, token } = transitionToWire(line);
    return [{ push: { $case: "termEnded", value: { lease, token, endReason, note } } }];
  }
  if (line.kind === "endOfTermCleared") {
    return [{ push: { $case: "endOfTerm", value: { lease, endOfTerm: undefined, cleared: true } } }];
  }
  if (line.kind !== "endOfTermMarked") return [];
  const { endOfTerm } = leaseToWire(record, { partition, now });
  // Marked and over within one batch: the end of the term is the news.
  return endOfTerm === undefined ? [] : [{ push: { $case: "endOfTerm", value: { lease, endOfTerm, cleared: false } } }];
}

function pingNews({ after }: Change<SeenCandidate>, { appliedAtMs, sequence }: ChangeSet): readonly SessionPush[] {
  if (after?.candidate.ping?.pinged.sequence !== sequence) return [];
  const { key, ping } = candidateToWire(after.lease.key, after.candidate, appliedAtMs);
  return [{ push: { $case: "ping", value: { candidate: key, ping } } }];
}
