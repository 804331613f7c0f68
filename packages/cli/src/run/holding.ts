import { Backoff, systemClock, systemRandom } from "@tenure/kernel";
import { isTenureError, type Tenure, type Term } from "@tenure/sdk";
import type { Invocation } from "../command/command.ts";
import { exitCodes } from "../exit-code.ts";
import { GuardedProgram } from "./guarded-program.ts";
import { jobOf } from "./hold-flags.ts";
import { outcomeOf } from "./outcome.ts";
import { ProcessSignals } from "./process-signals.ts";
import { runUnderTerm } from "./run-under-term.ts";

/** Pauses between attempts to reach the service at all: a fleet whose gateway was away does not come back in step. */
const reconnect = { firstMs: 250, limitMs: 2_000 };

/** What `exec` and `lock` do alike: wait for a term within the time given, run the program under it, say how it went. */
export class Holding implements Disposable {
  readonly signals = new ProcessSignals();
  readonly #invocation: Invocation;
  #guarded = new GuardedProgram();
  readonly #giveUp = new AbortController();
  readonly #ended = new AbortController();

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
    const waitMs = invocation.values.durationMs("wait");
    if (waitMs === undefined) return;
    const ended = this.#ended.signal;
    // A wait of 0 is one attempt: the store answers it, so only an attempt that gets no answer is given up here.
    const boundMs = waitMs === 0 ? (invocation.settings.timeoutMs ?? 10_000) : waitMs;
    systemClock.sleep(boundMs, ended).then(
      () => this.#giveUp.abort(),
      () => undefined,
    );
  }

  /** Aborted when there is nothing to wait for any more: the user asked to stop, or the time is over. */
  get waiting(): AbortSignal {
    return AbortSignal.any([this.signals.stop, this.#giveUp.signal]);
  }

  /** Says something on standard error, unless told to be quiet. */
  readonly note = (text: string): void => {
    if (!this.#invocation.values.has("quiet")) this.#invocation.terminal.note(`tenure: ${text}`);
  };

  /** Connects, again and again while the service cannot be reached; undefined when stopped. */
  async connect(): Promise<Tenure | undefined> {
    const identity = this.#invocation.values.text("identity");
    const options = { signal: this.waiting, ...(identity && { identity }) };
    const backoff = new Backoff(reconnect, systemRandom);
    let isNoted = false;
    while (!this.waiting.aborted) {
      try {
        return await this.#invocation.connect(options);
      } catch (error) {
        if (this.waiting.aborted) return undefined;
        if (!isTenureError(error) || error.code !== "UNAVAILABLE") throw error;
        if (!isNoted) this.note(`${error.message}; trying again until it can be reached`);
        isNoted = true;
        await systemClock.sleep(backoff.next(), this.waiting).catch(() => undefined);
      }
    }
    return undefined;
  }

  /** Runs the program under a term. */
  async run(term: Term, tenure: Tenure): Promise<NodeJS.Signals | number> {
    const { values } = this.#invocation;
    this.#ended.abort();
    const name = `${term.lease.namespace}/${term.lease.name}`;
    this.note(`holding ${name} with token ${term.token}`);
    term.on("at-risk", ({ error, remainingMs }) =>
      this.note(`renewals of ${name} fail, ${(remainingMs / 1_000).toFixed(1)} s are left: ${error.message}`),
    );
    term.on("held", () => this.note(`renewals of ${name} pass again`));
    if (!this.#guarded.isWatched) this.#guarded = new GuardedProgram();
    const job = jobOf(term, tenure.session.renewKey, this.#invocation);
    const result = await runUnderTerm(term, job, this.#guarded, this.signals);
    if (result.termEnd !== undefined) this.note(term.signal.reason?.message ?? "");
    const options = { passExitCode: values.has("pass-exit-code"), requested: this.signals.requested };
    return outcomeOf(result, options, (text) => this.#invocation.terminal.note(`tenure: ${text}`));
  }

  /** What a wait without a term ends with. */
  withoutTerm(lease: string): NodeJS.Signals | number {
    if (this.signals.requested !== undefined) return this.signals.requested;
    this.#invocation.terminal.note(`tenure: ${lease} was not acquired in time`);
    return exitCodes.notAcquired;
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
    this.#guarded[Symbol.dispose]();
    this.signals[Symbol.dispose]();
  }
}
