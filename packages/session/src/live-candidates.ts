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

/** How often streams are announced; a coordinator takes a beat of the last two seconds as an answer. */
const intervalMs = 1_000;
/** All candidates of a stream are named again after so many announcements, for coordinators that have missed them. */
const namedAgainAfter = 10n;
/** Candidates, or streams, of one announcement, so that it fits into one message. */
const mostPerMessage = 2_000;

/**
 * Tells coordinators which candidates have a session here that beats: each candidate when it is new and then now and
 * then, and every second which sessions beat, so that many candidates of one client cost no more than one. A lease whose
 * candidates are live is elected without asking them. What is lost does no harm.
 */
export class LiveCandidates implements Disposable {
  readonly #options: LiveCandidatesOptions;
  /** The sessions that have candidates, each with its number. */
  readonly #sessions = new Map<LiveSession, bigint>();
  /** To be named before the next second. */
  readonly #fresh = new Map<LiveSession, CandidateKey[]>();
  #closed: CandidateKey[] = [];
  #timer: Timer | undefined;
  #isFlushing = false;
  #announcedAtMs = Number.NEGATIVE_INFINITY;
  #sequence = 0n;
  #lastNumber = 0n;
  #rounds = 0n;

  constructor(options: LiveCandidatesOptions) {
    this.#options = options;
  }

  /** A session has new candidates. */
  onCandidates(session: LiveSession, candidates: readonly CandidateKey[]): void {
    if (!this.#sessions.has(session)) {
      this.#lastNumber += 1n;
      this.#sessions.set(session, this.#lastNumber);
    }
    this.#fresh.set(session, [...(this.#fresh.get(session) ?? []), ...candidates]);
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
    this.#rounds += 1n;
    const beating = [...this.#sessions].filter(([{ heardAtMs }]) => heardAtMs >= sinceMs);
    for (const [session, stream] of beating) {
      if ((stream + this.#rounds) % namedAgainAfter === 0n) this.#name(stream, [...session.candidates()]);
    }
    for (const some of slices(beating)) this.#send({ beating: some.map(([, stream]) => stream) });
  }

  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushing = false;
    for (const [session, live] of this.#fresh) this.#name(this.#sessions.get(session) ?? 0n, live);
    this.#fresh.clear();
    for (const closed of slices(this.#closed)) this.#send({ closed });
    this.#closed = [];
  }

  #name(stream: bigint, candidates: readonly CandidateKey[]): void {
    for (const live of slices(candidates)) this.#send({ stream, live });
  }

  #send(news: Parameters<typeof CandidateLiveness.fromPartial>[0]): void {
    const { bus, instance } = this.#options;
    if (!bus.connected) return;
    this.#sequence += 1n;
    const message = CandidateLiveness.fromPartial({ instance, sequence: this.#sequence, ...news });
    bus.publish(livenessSubject(instance), CandidateLiveness.encode(message).finish());
  }
}

/** A list in parts that each fit into one message. */
function* slices<Item>(items: readonly Item[]): Generator<Item[], void, undefined> {
  for (let from = 0; from < items.length; from += mostPerMessage) yield items.slice(from, from + mostPerMessage);
}
