import type { ClientContext } from "../instance/client-context.ts";
import { lossExitCode } from "../instance/end-process.ts";
import type { HeldTerm } from "../term/held-term.ts";
import { type LeaseName, showLease } from "../term/lease-name.ts";
import { describeEnd, isOnRequest, returned, type TermEnd } from "../term/term-end.ts";
import { type Controller, runController, whenAborted } from "./controller.ts";
import { decide } from "./decide.ts";
import { HeldCampaign } from "./held-campaign.ts";
import type { ManagerEvent } from "./manager-event.ts";
import type { ManagerPlan } from "./manager-plan.ts";
import { Participation } from "./participation.ts";

/** What a run of a manager stands on. */
export interface ManagerParts {
  readonly context: ClientContext;
  readonly plan: ManagerPlan;
  readonly controllers: ReadonlyMap<string, Controller>;
  readonly exitOnLoss: boolean | number;
  /** Aborting it ends the run: everything stops, and is given back. */
  readonly stop: AbortSignal;
  emit(event: ManagerEvent): void;
}

/** Keeps what is held and what runs equal to what {@link decide} says, until it is stopped or a controller fails. */
export class ManagerRun {
  /** Resolves when everything has stopped and was given back; rejects with what made it stop by itself. */
  readonly finished: Promise<void>;
  readonly #parts: ManagerParts;
  readonly #locks = new Map<string, HeldCampaign>();
  readonly #runs = new Map<string, HeldCampaign>();
  readonly #held = new Map<string, HeldTerm>();
  readonly #tokens = new Map<string, bigint>();
  readonly #participation: Participation;
  #refused: ReadonlySet<string> = new Set();
  #isJudged = false;
  #lost: { readonly term: HeldTerm; readonly end: TermEnd } | undefined;
  #failure: { readonly error: unknown } | undefined;
  #end: () => void = () => undefined;

  constructor(parts: ManagerParts) {
    this.#parts = parts;
    this.#participation = new Participation(parts.context.session, {
      describe: () => parts.plan.participant(this.#tokens),
      judge: (refused) => {
        this.#refused = refused;
        this.#isJudged = true;
        this.#reconcile();
      },
      fail: (error) => this.#fail(error),
      emit: parts.emit,
    });
    this.finished = this.#run();
  }

  /** The tokens of the controllers that run here, each of the controller's own lease. */
  get tokens(): ReadonlyMap<string, bigint> {
    return this.#tokens;
  }

  /** The controllers that the migration service does not let run here. */
  get refused(): ReadonlySet<string> {
    return this.#refused;
  }

  async #run(): Promise<void> {
    const { stop } = this.#parts;
    const onStop = (): void => this.#reconcile();
    stop.addEventListener("abort", onStop, { once: true });
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    this.#reconcile();
    await ended;
    stop.removeEventListener("abort", onStop);
    await this.#participation[Symbol.asyncDispose]();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  get #isOver(): boolean {
    return this.#parts.stop.aborted || this.#failure !== undefined;
  }

  /** Starts what should be and is not, stops what is and should not be. What has ended calls it again. */
  #reconcile(): void {
    const { assignments, primary } = this.#parts.plan;
    const { locks, controllers } = decide(primary, assignments, {
      isEnding: this.#isOver || this.#lost !== undefined,
      held: new Set(this.#held.keys()),
      isJudged: this.#isJudged,
      refused: this.#refused,
    });
    for (const [name, one] of this.#locks) if (!locks.has(name)) one.stop();
    for (const [name, one] of this.#runs) if (!controllers.has(name)) one.stop();
    for (const [name, lock] of locks) if (!this.#locks.has(name)) this.#campaign(name, lock);
    for (const [name, lock] of controllers) if (!this.#runs.has(name)) this.#start(name, lock);
    if (this.#locks.size === 0 && this.#runs.size === 0) this.#settle();
  }

  /** Nothing is left: the run is over, or begins again after a loss. */
  #settle(): void {
    if (this.#isOver) this.#end();
    const { context, exitOnLoss } = this.#parts;
    const lost = this.#lost;
    if (this.#isOver || lost === undefined) return;
    this.#lost = undefined;
    if (exitOnLoss !== false) {
      const code = exitOnLoss === true ? lossExitCode : exitOnLoss;
      const name = `lock ${showLease(lost.term.lease)} (token ${lost.term.token})`;
      context.endProcess(code, `${name} was lost: ${describeEnd(lost.end)}; all controllers have stopped`);
    }
    this.#reconcile();
  }

  #campaign(name: string, lock: LeaseName): void {
    const plan = this.#parts.plan.locks.get(name);
    if (plan === undefined) return;
    const held = new HeldCampaign(this.#parts.context, plan, (term) => this.#hold(name, lock, term));
    this.#locks.set(name, held);
    this.#follow(held, this.#locks, name);
  }

  /** One term of a lock: over when all that ran under it has stopped. */
  async #hold(name: string, lock: LeaseName, term: HeldTerm): Promise<void> {
    const { token } = term;
    this.#held.set(name, term);
    this.#parts.emit({ kind: "lock-held", lock, token });
    this.#reconcile();
    await whenAborted(term.signal);
    this.#held.delete(name);
    const end = term.end ?? returned;
    // A lock that is asked back is not lost: what runs under it stops, and the rest goes on.
    if (!isOnRequest(end) && end.kind !== "end-of-term") this.#lost ??= { term, end };
    this.#reconcile();
    await Promise.all([...this.#runs.values()].filter(({ isStopped }) => isStopped).map(({ quiet }) => quiet));
    this.#parts.emit({ kind: "lock-ended", lock, token, end });
  }

  #start(name: string, lock: LeaseName): void {
    const controller = this.#parts.controllers.get(name);
    const plan = this.#parts.plan.controllers.get(name);
    if (controller === undefined || plan === undefined) return;
    const run = new HeldCampaign(this.#parts.context, plan, async (term) => {
      const { token } = term;
      this.#tokens.set(name, token);
      this.#parts.emit({ kind: "controller-started", controller: name, lock, token });
      this.#participation.refresh();
      try {
        await runController(controller, term, (error) => {
          const why = error instanceof Error ? error.message : String(error);
          const what = `controller ${name} (token ${token}) may still run: its stop failed: ${why}`;
          this.#parts.context.endProcess(lossExitCode, what);
        });
      } finally {
        this.#tokens.delete(name);
        this.#parts.emit({ kind: "controller-stopped", controller: name, token });
        this.#participation.refresh();
      }
    });
    this.#runs.set(name, run);
    this.#follow(run, this.#runs, name);
  }

  #follow(held: HeldCampaign, among: Map<string, HeldCampaign>, name: string): void {
    held.finished.then(
      () => {
        among.delete(name);
        this.#reconcile();
      },
      (error: unknown) => {
        among.delete(name);
        this.#fail(error);
      },
    );
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#reconcile();
  }
}
