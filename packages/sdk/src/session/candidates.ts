import type { CandidateKey, SessionAnswer, SessionPush } from "@tenure/contracts";
import type { CandidateListener } from "./session.ts";

/**
 * The candidates of a session: pings are answered here, at once, because an answer only says that the process lives;
 * whether to lead is decided at the accept.
 */
export class Candidates {
  readonly #listeners = new Map<string, Set<CandidateListener>>();
  #answers: SessionAnswer[] = [];

  get hasAnswers(): boolean {
    return this.#answers.length > 0;
  }

  follow(candidate: CandidateKey, listener: CandidateListener): () => void {
    const key = textOf(candidate);
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => {
      if (listeners.delete(listener) && listeners.size === 0) this.#listeners.delete(key);
    };
  }

  onPush({ push }: SessionPush): void {
    if (push?.$case !== "ping" && push?.$case !== "pending") return;
    const { candidate } = push.value;
    const listeners = candidate === undefined ? undefined : this.#listeners.get(textOf(candidate));
    // Nobody here stands for it any more, so silence is the right answer.
    if (candidate === undefined || listeners === undefined) return;
    if (push.$case === "pending") {
      const { pending } = push.value;
      if (pending !== undefined) for (const listener of [...listeners]) listener.onPending(pending);
      return;
    }
    const { ping } = push.value;
    if (ping === undefined) return;
    this.#answers.push({ candidate, pingNumber: ping.number });
    for (const listener of [...listeners]) listener.onPing(ping);
  }

  takeAnswers(): SessionAnswer[] {
    const answers = this.#answers;
    this.#answers = [];
    return answers;
  }

  /** Answers of a stream that is gone are not sent on the next: the coordinator asks anew. */
  forgetAnswers(): void {
    this.#answers = [];
  }
}

function textOf({ lease, name }: CandidateKey): string {
  return `${lease?.namespace}/${lease?.name}/${name}`;
}
