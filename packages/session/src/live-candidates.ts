import { type Bus, livenessSubject } from "@tenure/bus";
import { type CandidateKey, CandidateLiveness } from "@tenure/contracts";
import type { Clock, Timer } from "@tenure/kernel";

/** A session as far as its candidates' liveness goes. */
export interface LiveSession {
  /** When its client was last heard, on the engine's clock. */
  readonly heardAtMs: number;
  /** The candidates that are its client's own. */
  candidates(): Iterable<CandidateKey>;
}

/** What announcing stands on. */
export interface LiveCandidatesOptions {
  readonly bus: Pick<Bus, "connected" | "publish">;
  readonly clock: Clock;
  readonly instance: string;
}

/** How often live candidates are announced; a coordinator takes a beat of the last two seconds as an answer. */
const intervalMs = 1_000;
/** Candidates of one announcement, so that it fits into one message. */
const mostPerMessage = 2_000;

/**
 * Tells coordinators which candidates have a session here that beats, every second and at once when a session gets a
 * candidate or closes: a lease whose candidates are live is elected without asking them. What is lost does no harm.
 */
export class LiveCandidates implements Disposable {
  readonly #options: LiveCandidatesOptions;
  readonly #sessions = new Set<LiveSession>();
  /** Heard of since the last announcement, to be announced before the next second. */
  readonly #fresh = new Set<LiveSession>();
  #closed: CandidateKey[] = [];
  #timer: Timer | undefined;
  #isFlushing = false;
  #announcedAtMs = Number.NEGATIVE_INFINITY;
  #sequence = 0n;

  constructor(options: LiveCandidatesOptions) {
    this.#options = options;
  }

  /** A session has candidates. */
  onCandidates(session: LiveSession): void {
    this.#sessions.add(session);
    this.#fresh.add(session);
    this.#flushSoon();
    this.#arm();
  }

  /** A session is over. */
  onClosed(session: LiveSession): void {
    this.#fresh.delete(session);
    if (!this.#sessions.delete(session)) return;
    this.#closed.push(...session.candidates());
    this.#flushSoon();
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#sessions.clear();
    this.#flush();
  }

  #arm(): void {
    this.#timer ??= this.#options.clock.schedule(intervalMs, () => {
      this.#timer = undefined;
      this.#announceAll();
      if (this.#sessions.size > 0) this.#arm();
    });
  }

  #announceAll(): void {
    const sinceMs = this.#announcedAtMs;
    this.#announcedAtMs = this.#options.clock.now();
    const live = [...this.#sessions].filter(({ heardAtMs }) => heardAtMs >= sinceMs);
    this.#announce(live);
  }

  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushing = false;
    const fresh = [...this.#fresh];
    this.#fresh.clear();
    this.#announce(fresh);
  }

  #announce(sessions: readonly LiveSession[]): void {
    const live = sessions.flatMap((session) => [...session.candidates()]);
    const closed = this.#closed;
    this.#closed = [];
    const { bus, instance } = this.#options;
    if (!bus.connected) return;
    for (let from = 0; from < Math.max(live.length, closed.length); from += mostPerMessage) {
      this.#sequence += 1n;
      const to = from + mostPerMessage;
      const message = {
        instance,
        sequence: this.#sequence,
        live: live.slice(from, to),
        closed: closed.slice(from, to),
      };
      bus.publish(livenessSubject(instance), CandidateLiveness.encode(message).finish());
    }
  }
}
