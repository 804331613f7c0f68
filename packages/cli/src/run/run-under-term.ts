import { systemClock } from "@tenure/kernel";
import type { Term, TermEnd } from "@tenure/sdk";
import type { GuardedProgram, ProgramEnd } from "./guarded-program.ts";
import type { ProcessSignals } from "./process-signals.ts";
import { earlier, instantIn, type MachineInstant } from "./watchdog-messages.ts";

/** What is run while a term lasts. */
export interface Job {
  readonly program: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** A shell command that runs before the program is asked to stop. */
  readonly preStop: string | undefined;
  /** How long the program may take to end after it was asked to, while the term is still renewed. */
  readonly drainMs: number;
}

/** How it went. */
export interface JobResult {
  readonly end: ProgramEnd;
  /** Why the term ended, if that is why the program was asked to stop. */
  readonly termEnd: TermEnd | undefined;
}

/** The group is killed this long before the term is over, so that it is gone when it is. */
const killMarginMs = 100;
/** The watchdog hears of a later deadline this often. */
const extendEveryMs = 200;
/** A watchdog that has not killed this long after the deadline stands still: then this process kills. */
const watchdogGraceMs = 250;

/** A program that has not ended this long after its drain, or after a second request to stop, has no watchdog that acts. */
const drainGraceMs = 2_000;

/** Runs a program under a term; resolves when the program and its whole group are gone. */
export async function runUnderTerm(
  term: Term,
  job: Job,
  guarded: GuardedProgram,
  signals: ProcessSignals,
): Promise<JobResult> {
  const over = new AbortController();
  const drain = new Drain(term, job, guarded, signals, over.signal);
  signals.onPassed = (signal) => guarded.signal(signal);
  const start = { role: "main", program: job.program, environment: job.environment } as const;
  const ended = guarded.run({ ...start, deadline: drain.deadline });
  void keepTold(drain, guarded, over.signal);
  const stopListening = onLoss(term, guarded, over.signal);
  const asked = AbortSignal.any([term.signal, signals.stop]);
  const begin = (): void => void drain.begin();
  asked.addEventListener("abort", begin, { once: true });
  if (asked.aborted) begin();
  try {
    return { end: await ended, termEnd: term.signal.reason?.end };
  } finally {
    over.abort();
    stopListening();
    asked.removeEventListener("abort", begin);
    signals.onPassed = undefined;
  }
}

/** The way from the request to stop to the end of the program. */
class Drain {
  readonly #term: Term;
  readonly #job: Job;
  readonly #guarded: GuardedProgram;
  readonly #signals: ProcessSignals;
  readonly #over: AbortSignal;
  #bound: MachineInstant | undefined;

  constructor(term: Term, job: Job, guarded: GuardedProgram, signals: ProcessSignals, over: AbortSignal) {
    this.#term = term;
    this.#job = job;
    this.#guarded = guarded;
    this.#signals = signals;
    this.#over = over;
  }

  /** When the group must be gone by what is known now. */
  get deadline(): MachineInstant {
    const ofTerm = instantIn(() => this.#term.remainingMs - killMarginMs);
    return this.#bound === undefined ? ofTerm : earlier(ofTerm, this.#bound);
  }

  /** Asks the program to stop, after the pre-stop command, which gets at most half of the time. */
  async begin(): Promise<void> {
    this.#bound = instantIn(() => this.#job.drainMs);
    this.#guarded.deadline = this.deadline;
    this.#killIn(this.#job.drainMs + drainGraceMs);
    const onHurry = (): void => {
      this.#guarded.signal("SIGKILL");
      this.#killIn(drainGraceMs);
    };
    this.#signals.hurry.addEventListener("abort", onHurry, { once: true, signal: this.#over });
    if (this.#job.preStop !== undefined) await this.#runPreStop(this.#job.preStop);
    if (this.#over.aborted) return;
    this.#guarded.signal(this.#signals.requested ?? "SIGTERM");
    // A program that was stopped cannot hear anything else.
    this.#guarded.signal("SIGCONT");
  }

  /** Kills without the watchdog, unless the program is gone by then. */
  #killIn(delayMs: number): void {
    void systemClock.sleep(delayMs, this.#over).then(
      () => this.#guarded.killAll(),
      () => undefined,
    );
  }

  async #runPreStop(command: string): Promise<void> {
    const { drainMs, environment } = this.#job;
    const program = ["/bin/sh", "-c", command];
    const done = this.#guarded.run({ role: "pre-stop", program, environment, deadline: this.deadline });
    const halfMs = Math.min(drainMs, this.#term.remainingMs) / 2;
    const stop = AbortSignal.any([this.#over, this.#signals.hurry]);
    await Promise.race([done, systemClock.sleep(halfMs, stop).catch(() => undefined)]);
  }
}

/** Tells the watchdog of every later deadline, until the program is gone. */
async function keepTold(drain: Drain, guarded: GuardedProgram, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await systemClock.sleep(extendEveryMs, over).catch(() => undefined);
    if (!over.aborted) guarded.deadline = drain.deadline;
  }
}

/** The second of the two guards: when the term is lost and the watchdog has not acted, this process does. */
function onLoss(term: Term, guarded: GuardedProgram, over: AbortSignal): () => void {
  return term.on("lost", () => {
    guarded.signal("SIGKILL");
    void systemClock.sleep(watchdogGraceMs, over).then(
      () => guarded.killAll(),
      () => undefined,
    );
  });
}
