import type { CallContext } from "@tenure/bus";
import {
  type Command,
  execute,
  executePackedRenewal,
  type OwnedPartition,
  type PackedRenewal,
  type PackedResult,
  type PartitionState,
  type Reply,
  restoredAtOnce,
  type Waiters,
} from "@tenure/core";
import { type Fault, Later } from "@tenure/kernel";

/** What an owner answers from, right after a batch was committed. */
export interface CommittedView {
  readonly state: PartitionState;
  readonly waiters: Waiters;
}

/** Who waits for an answer, and can be heard to leave. */
export type Caller = Pick<CallContext, "onAbort">;

/** What became of a call when a batch took it. */
export type Taken =
  /** Its answer leaves when the batch is committed. */
  | { readonly kind: "answered" }
  /** The next batch takes it again, before anything newer. */
  | { readonly kind: "again" }
  /** It stands in a lease's queue; its answer comes with a later batch. */
  | { readonly kind: "waiting"; readonly waiterId: string };

const answered: Taken = Object.freeze({ kind: "answered" });
const again: Taken = Object.freeze({ kind: "again" });

/**
 * One call that the owner of a partition answers: it is taken into a batch, and answered from the state as it is right
 * after that batch was committed. It is settled exactly once.
 */
export abstract class Call<Answer = unknown> extends Later<Answer> {
  /** Who is not listened to yet. */
  caller: Caller | undefined = undefined;
  /** What is to be undone once it is settled. */
  leave: (() => void) | undefined = undefined;

  /** Decides the call in the open batch. */
  abstract take(owned: OwnedPartition, now: number): Taken;

  protected abstract answer(view: CommittedView): Answer;

  /** Answers after the commit; what rendering the answer throws is the answer. */
  complete(view: CommittedView): void {
    if (this.isSettled) return;
    this.leave?.();
    let answer: Answer;
    try {
      answer = this.answer(view);
    } catch (thrown) {
      this.reject(thrown);
      return;
    }
    this.resolve(answer);
  }

  fail(fault: Fault): void {
    this.leave?.();
    this.reject(fault);
  }
}

/** Renders the reply to a command from what it was committed with. */
export type RenderReply<Answer> = (reply: Reply, view: CommittedView) => Answer;

/** A command. */
export class CommandCall<Answer> extends Call<Answer> {
  readonly command: Command;
  /** The name under which it waits; undefined before and unless it does. */
  waiterId: string | undefined;
  readonly #render: RenderReply<Answer>;
  #reply: Reply | undefined;

  constructor(command: Command, render: RenderReply<Answer>) {
    super();
    this.command = command;
    this.#render = render;
  }

  take(owned: OwnedPartition, now: number): Taken {
    const reply = execute(owned, this.command, now);
    if (reply.kind === "nextBatch") return again;
    if (reply.kind === "queued") return { kind: "waiting", waiterId: reply.waiterId };
    this.#reply = reply;
    return answered;
  }

  /** The wait of this command is over; the answer leaves with the open batch. */
  settle(reply: Reply): void {
    this.#reply = reply;
  }

  protected answer(view: CommittedView): Answer {
    if (this.#reply === undefined) throw new Error("a command was answered before it was decided");
    return this.#render(this.#reply, view);
  }
}

/** A linearizable read: its batch was sent after it arrived (rule 7). */
export class ReadCall<Answer> extends Call<Answer> {
  readonly #render: (view: CommittedView) => Answer;

  constructor(render: (view: CommittedView) => Answer) {
    super();
    this.#render = render;
  }

  take(): Taken {
    return answered;
  }

  protected answer(view: CommittedView): Answer {
    return this.#render(view);
  }
}

/**
 * Packed renewals of many clients, taken by as many batches as they need, which is nearly always one. The answer has one
 * result for each request, and the state they were committed in.
 */
export class RenewalCall<Answer> extends Call<Answer> {
  readonly #requests: readonly PackedRenewal[];
  readonly #render: (results: readonly PackedResult[], view: CommittedView) => Answer;
  readonly #results: PackedResult[] = [];

  constructor(
    requests: readonly PackedRenewal[],
    render: (results: readonly PackedResult[], view: CommittedView) => Answer,
  ) {
    super();
    this.#requests = requests;
    this.#render = render;
  }

  take(owned: OwnedPartition, now: number): Taken {
    const results = this.#results;
    for (let restored = 0; restored < restoredAtOnce; ) {
      const begun = results.at(-1);
      const isGoingOn = begun !== undefined && begun.rest.length > 0;
      const place = isGoingOn ? results.length - 1 : results.length;
      const request = this.#requests[place];
      if (request === undefined) return answered;
      const wanted = isGoingOn ? { ...request, holdIds: begun.rest } : request;
      const result = executePackedRenewal(owned, wanted, now);
      results[place] = isGoingOn ? join(begun, result) : result;
      // One event tells all renewals; each other one brings a lease back from its deletion.
      restored += Math.max(0, result.events.length - 1);
    }
    return again;
  }

  protected answer(view: CommittedView): Answer {
    return this.#render(this.#results, view);
  }
}

function join(begun: PackedResult, more: PackedResult): PackedResult {
  return {
    events: more.events,
    renewed: [...begun.renewed, ...more.renewed],
    ending: [...begun.ending, ...more.ending],
    refused: [...begun.refused, ...more.refused],
    rest: more.rest,
  };
}
