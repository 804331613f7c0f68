import { onAbort } from "./on-abort.ts";

/**
 * A signal that is aborted as soon as one of several is. Dispose of it when nobody needs it any more, and nothing of it is
 * left. `AbortSignal.any` needs no disposal, and leaves a trace in each of the several for as long as that one lives:
 * in one that lives as long as the process they add up.
 */
export class JoinedSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #leave: (() => void)[] = [];

  /** Those that are absent count for nothing. */
  constructor(signals: readonly (AbortSignal | undefined)[]) {
    for (const signal of signals) {
      if (signal === undefined) continue;
      const end = () => this.#controller.abort(signal.reason);
      if (signal.aborted) end();
      else this.#leave.push(onAbort(signal, end));
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const leave of this.#leave) leave();
  }
}
