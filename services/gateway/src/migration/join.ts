import {
  type MigrationParticipant,
  type MigrationServiceJoinRequest,
  MigrationServiceJoinResponse,
  MigrationServiceReportRequest,
} from "@tenure/contracts";
import { type Clock, Fault, invalid, type Timer } from "@tenure/kernel";
import type { OpenCall } from "@tenure/session";
import type { FrontContext } from "../front/front-context.ts";

/** How often a participant whose stream is open is reported: what changes for it is told no later than this. */
const reportEveryMs = 2_000;
/** How long the service may take to answer. A replica that dies with a report takes that long to be noticed. */
const reportTimeoutMs = 5_000;

/** What a stream stands on. */
interface JoinContext {
  readonly calls: Pick<FrontContext["calls"], "start">;
  readonly clock: Clock;
}

/** Where the answers of a stream go. */
interface Listener {
  send(answer: MigrationServiceJoinResponse): void;
  fail(thrown: unknown): void;
}

/**
 * One participant's stream: each message is a report, and so is the time that passes while the stream is open. Answers
 * are sent to messages, and whenever they differ from the last. A report that is not answered is made again.
 */
export class Join {
  readonly #context: JoinContext;
  readonly #principal: string;
  readonly #listener: Listener;
  #participant: MigrationParticipant | undefined;
  #isLeaving = false;
  /** Messages that have come since the last report began. */
  #owed = 0;
  #call: OpenCall | undefined;
  #timer: Timer | undefined;
  #lastText = "";

  constructor(context: JoinContext, principal: string, listener: Listener) {
    this.#context = context;
    this.#principal = principal;
    this.#listener = listener;
  }

  get isIdle(): boolean {
    return this.#call === undefined;
  }

  receive({ leaving, participant }: MigrationServiceJoinRequest): void {
    this.#participant = participant ?? this.#participant;
    if (this.#participant === undefined) {
      throw invalid([{ field: "participant", rule: "is required in the first message", value: "nothing" }]);
    }
    this.#isLeaving ||= leaving;
    this.#owed += 1;
    this.#report();
  }

  /** Whoever has not said that it leaves may go on elsewhere, and counts until it has been silent for long enough. */
  close(): void {
    this.#timer?.cancel();
    this.#call?.cancel();
    this.#participant = undefined;
  }

  #report(): void {
    if (this.#call !== undefined || this.#participant === undefined) return;
    this.#timer?.cancel();
    const isAsked = this.#owed > 0;
    this.#owed = 0;
    const request = MigrationServiceReportRequest.encode({ participant: this.#participant, leaving: this.#isLeaving });
    const options = { principal: this.#principal, deadlineMs: reportTimeoutMs };
    this.#call = this.#context.calls.start("MigrationService.Report", request.finish(), options, (outcome) => {
      this.#call = undefined;
      const isFailed = outcome instanceof Fault;
      if (isFailed && !outcome.retryable && outcome.code !== "DEADLINE_EXCEEDED") {
        this.#listener.fail(outcome);
        return;
      }
      if (!isFailed) this.#tell(outcome, isAsked);
      else if (isAsked) this.#lastText = ""; // The next answer is owed.
      if (this.#owed > 0) this.#report();
      else if (isFailed || !this.#isLeaving) {
        this.#timer = this.#context.clock.schedule(reportEveryMs, () => this.#report());
      }
    });
  }

  /** The answer to a report has the fields of the answer to a join. */
  #tell(bytes: Uint8Array, isAsked: boolean): void {
    const answer = MigrationServiceJoinResponse.decode(bytes);
    const text = JSON.stringify({ ...answer, revision: 0 }, (_key, value) =>
      typeof value === "bigint" ? `${value}` : value,
    );
    if (!isAsked && text === this.#lastText) return;
    this.#lastText = text;
    this.#listener.send(answer);
  }
}
