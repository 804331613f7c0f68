import { isatty } from "node:tty";
import { systemClock } from "@tenure/kernel";

/** Signals that ask for the end. */
const stopSignals: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT", "SIGTERM"];

/** Signals that are the program's own business while it runs. */
const passedSignals: readonly NodeJS.Signals[] = ["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH"];

/** What comes within this is the same request: one Ctrl-C reaches this process twice when its parent passes it on too. */
const sameRequestMs = 1_000;

/**
 * What the user says to this process by signals, in every state: the first request to stop ends the wait or the program
 * in order, the second kills it. SIGHUP is a request to stop when a terminal hangs up, and while no program runs; a
 * program without a terminal may take it for a request to reload.
 */
export class ProcessSignals implements Disposable {
  readonly #stop = new AbortController();
  readonly #hurry = new AbortController();
  readonly #hasTerminal: boolean;
  readonly #now: () => number;
  #requested: NodeJS.Signals | undefined;
  #requestedAtMs = 0;
  /** Who gets the signals that are passed on; nobody while no program runs. */
  onPassed: ((signal: NodeJS.Signals) => void) | undefined;

  constructor(hasTerminal: boolean = isatty(0) || isatty(2), now: () => number = () => systemClock.now()) {
    this.#hasTerminal = hasTerminal;
    this.#now = now;
    for (const signal of stopSignals) process.on(signal, this.#onStop);
    for (const signal of passedSignals) process.on(signal, this.#onPass);
  }

  /** Aborted by the first request to stop. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborted by the second. */
  get hurry(): AbortSignal {
    return this.#hurry.signal;
  }

  /** The signal that asked for the end; undefined while none has. */
  get requested(): NodeJS.Signals | undefined {
    return this.#requested;
  }

  [Symbol.dispose](): void {
    for (const signal of stopSignals) process.off(signal, this.#onStop);
    for (const signal of passedSignals) process.off(signal, this.#onPass);
  }

  readonly #onStop = (signal: NodeJS.Signals): void => {
    if (this.#requested === undefined) {
      this.#requested = signal;
      this.#requestedAtMs = this.#now();
      this.#stop.abort();
    } else if (this.#now() - this.#requestedAtMs >= sameRequestMs) this.#hurry.abort();
  };

  readonly #onPass = (signal: NodeJS.Signals): void => {
    if (signal === "SIGHUP" && (this.#hasTerminal || this.onPassed === undefined)) this.#onStop(signal);
    else this.onPassed?.(signal);
  };
}
