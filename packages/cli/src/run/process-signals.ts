/** Signals that ask for the end. */
const stopSignals: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT", "SIGTERM"];

/** Signals that are the program's own business while it runs. */
const passedSignals: readonly NodeJS.Signals[] = ["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH"];

/**
 * What the user says to this process by signals, in every state: the first request to stop ends the wait or the program
 * in order, the second kills it. A hang-up while no program runs is a request to stop.
 */
export class ProcessSignals implements Disposable {
  readonly #stop = new AbortController();
  readonly #hurry = new AbortController();
  #requested: NodeJS.Signals | undefined;
  /** Who gets the signals that are passed on; nobody while no program runs. */
  onPassed: ((signal: NodeJS.Signals) => void) | undefined;

  constructor() {
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
    if (this.#stop.signal.aborted) this.#hurry.abort();
    this.#requested ??= signal;
    this.#stop.abort();
  };

  readonly #onPass = (signal: NodeJS.Signals): void => {
    if (this.onPassed !== undefined) this.onPassed(signal);
    else if (signal === "SIGHUP") this.#onStop(signal);
  };
}
