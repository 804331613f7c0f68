import {
  type CandidateKey,
  CandidateServiceAckRequest,
  durationFromMs,
  type EndingHold,
  type PackedRefusal,
  type SessionAnswer,
  type SessionPush,
  type SessionServiceSessionRequest,
  timestampFromMs,
} from "@tenure/contracts";
import { Fault, formatDuration, invalid, toFault } from "@tenure/kernel";
import { EndingPushes } from "./ending-pushes.ts";
import type { EngineServices } from "./engine-services.ts";
import { FollowedNews } from "./followed-news.ts";
import { type Greeting, readGreeting } from "./greeting.ts";
import { Outbox } from "./outbox.ts";
import { RateLimit } from "./rate-limit.ts";
import type { RenewalClient } from "./renewal-coalescer.ts";
import { packedGroups } from "./renewal-groups.ts";
import { refusalsOf } from "./renewal-refusals.ts";
import { SessionCalls } from "./session-calls.ts";
import { limitExceeded, tooFast } from "./session-limits.ts";
import type { OpenSession, SessionPort } from "./session-port.ts";
import { StoreCall } from "./store-call.ts";
import { WaitGroup } from "./wait-beats.ts";

/** Calls of one message, as the API has it. */
const mostCallsPerMessage = 1_000;
const mostAnswersPerMessage = 1_000;
/** Calls are kept by their numbers, as numbers. */
const greatestCall = BigInt(Number.MAX_SAFE_INTEGER);

/** A client has this long to greet. */
const greetingMs = 10_000;

/** The server's side of one client's session. */
export class Session implements OpenSession, RenewalClient {
  readonly #services: EngineServices;
  readonly #port: SessionPort;
  readonly #id: string;
  readonly #outbox: Outbox;
  readonly #calls: SessionCalls;
  readonly #waits: WaitGroup;
  readonly #news: FollowedNews | undefined;
  readonly #endings: EndingPushes | undefined;
  readonly #rate: RateLimit;
  readonly #onOver: () => void;
  #greeting: Greeting | undefined;
  #lastCall = 0n;
  #isOver = false;
  #sentBefore = 0;
  /** How long the client may be silent, and since when it has been, on the engine's clock. */
  silenceMs = greetingMs;
  heardAtMs: number;

  constructor(services: EngineServices, port: SessionPort, id: string, onOver: () => void) {
    const { calls, clock, limits, news } = services;
    this.#services = services;
    this.#port = port;
    this.#id = id;
    this.#onOver = onOver;
    this.heardAtMs = clock.now();
    this.#outbox = new Outbox({
      send: (message) => port.send(message),
      mostQueuedBytes: limits.queuedBytes,
      onTooMuch: (queuedBytes) => this.end(tooSlow(queuedBytes, limits.queuedBytes)),
    });
    this.#waits = new WaitGroup(port.principal);
    this.#rate = new RateLimit(clock, limits.callsPerSecond);
    const push = (told: SessionPush) => this.#outbox.push(told);
    this.#endings = news && new EndingPushes((partition, holdId) => news.termOf(partition, holdId), push);
    const onTermOver = (name: string) => this.#endings?.forget(name);
    this.#news = news && new FollowedNews(news, port.principal, { push, onTermOver });
    this.#calls = new SessionCalls({
      services: calls,
      outbox: this.#outbox,
      limits,
      rate: this.#rate,
      principal: port.principal,
      onWait: (call) => call instanceof StoreCall && this.#waits.add(call),
      onWaitOver: (call) => call instanceof StoreCall && this.#waits.delete(call),
      onAnswered: (method, request, response) => this.#onAnswered(method, request, response),
      minRevision: () => this.#greeting?.minRevision ?? 0n,
    });
  }

  get clientId(): string {
    return this.#greeting?.clientId ?? "";
  }

  get principal(): string {
    return this.#port.principal;
  }

  get renewKeyHash(): Uint8Array {
    return this.#greeting?.renewKeyHash ?? new Uint8Array(0);
  }

  /** The candidates that are the client's own. */
  candidates(): Iterable<CandidateKey> {
    return this.#news?.candidates() ?? [];
  }

  /** How many calls are open. */
  get openCalls(): number {
    return this.#calls.open;
  }

  receive(message: SessionServiceSessionRequest): void {
    if (this.#isOver) return;
    try {
      this.#take(message);
    } catch (thrown) {
      this.end(toFault(thrown));
    }
  }

  onDrain(): void {
    this.#outbox.onDrain();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#calls.close();
    this.#services.live?.onClosed(this);
    this.#news?.close();
    this.#outbox.close();
    this.#onOver();
  }

  /** Ends the session from this side, after what was said so far. */
  end(fault?: Fault): void {
    if (this.#isOver) return;
    this.#outbox.flush();
    this.close();
    this.#port.end(fault);
  }

  /** Says that this server is about to go; open calls go on. */
  sayGoodbye(reason: string, reconnectAfterMs: number): void {
    this.#calls.isClosing = true;
    this.#outbox.say({ goodbye: { reason, reconnectAfter: durationFromMs(reconnectAfterMs) } });
  }

  /** Says something if nothing was said since the last time, and ends a session whose client is silent. */
  onTick(now: number): void {
    if (now - this.heardAtMs > this.silenceMs) this.end(silent(now - this.heardAtMs));
    else if (this.#outbox.sent === this.#sentBefore && this.#greeting !== undefined) this.#outbox.say({});
    this.#sentBefore = this.#outbox.sent;
  }

  onRenewed(acks: Uint8Array, endings: readonly EndingHold[]): void {
    this.#outbox.acks(acks);
    this.#endings?.onRenewed(acks, endings);
  }

  onRefused(refusals: readonly PackedRefusal[]): void {
    this.#outbox.refuse(refusals);
    this.#endings?.onRefused(refusals);
  }

  #take(message: SessionServiceSessionRequest): void {
    const { answers, calls, cancels, closing, credits, renewals, sendNumber } = message;
    this.heardAtMs = this.#services.clock.now();
    this.#greet(message);
    if (sendNumber <= this.#outbox.receivedNumber) throw notGrowing("send_number", sendNumber);
    this.#outbox.receivedNumber = sendNumber;
    this.#services.beats.beat(this.#waits, sendNumber);
    requireAtMost("calls", calls.length, mostCallsPerMessage);
    requireAtMost("answers", answers.length, mostAnswersPerMessage);
    for (const call of calls) {
      if (call.number <= this.#lastCall) throw notGrowing("calls.number", call.number);
      if (call.number > greatestCall) throw tooGreat("calls.number", call.number, greatestCall);
      this.#lastCall = call.number;
      this.#calls.begin(call);
    }
    for (const number of cancels) this.#calls.cancel(number);
    for (const { number, responses } of credits) this.#calls.credit(number, responses);
    if (renewals.length > 0) this.#renew(renewals);
    if (answers.length > 0) this.#answer(answers);
    if (closing) {
      this.#calls.isClosing = true;
      this.#services.live?.onClosed(this);
      this.#news?.closeCandidates();
    }
  }

  /** The first message of a client is its greeting, and no other has one. */
  #greet({ hello }: SessionServiceSessionRequest): void {
    if ((hello !== undefined) === (this.#greeting === undefined)) {
      if (hello === undefined) return;
      const { instance, limits, version, clock, heartbeatMs } = this.#services;
      const greeting = readGreeting(hello);
      this.#greeting = greeting;
      this.silenceMs = greeting.silenceMs;
      this.#outbox.isSharing = greeting.sharedReplies;
      this.#outbox.say({
        welcome: {
          sessionId: this.#id,
          instance,
          version,
          principal: this.principal,
          maxMessageBytes: limits.messageBytes,
          maxOpenCalls: limits.openCalls,
          heartbeatInterval: durationFromMs(heartbeatMs),
          now: timestampFromMs(clock.wall()),
        },
      });
      return;
    }
    const rule = hello === undefined ? "must be set in the first message" : "must be set in the first message only";
    throw invalid([{ field: "hello", rule, value: hello === undefined ? "absent" : "set again" }]);
  }

  #renew(renewals: Uint8Array): void {
    const groups = packedGroups(renewals);
    if (!this.#rate.take()) {
      this.onRefused(refusalsOf(groups, tooFast(this.#services.limits.callsPerSecond, this.#rate)));
      return;
    }
    this.#services.renewals.renew(this, groups);
    if (this.#news !== undefined) for (const group of groups) this.#news.onRenewal(group);
  }

  /** Answers beyond the client's rate are dropped: the coordinator asks again. */
  #answer(answers: readonly SessionAnswer[]): void {
    const taken = answers.filter(() => this.#rate.take());
    if (taken.length === 0) return;
    const request = CandidateServiceAckRequest.encode({
      answers: taken.map(({ candidate, pingNumber }) => ({ candidate, pingNumber })),
    }).finish();
    const { calls, pingAnswerMs } = this.#services;
    const options = { principal: this.principal, deadlineMs: pingAnswerMs };
    try {
      // The coordinator sees the answer in the log; the candidate has nothing to learn from its outcome.
      calls.start("CandidateService.Ack", request, options, (outcome) => {
        if (!(outcome instanceof Fault)) this.#onAnswered("CandidateService.Ack", request, outcome);
      });
    } catch (thrown) {
      // An answer that its client may not give is as good as none, and no reason to end the session of its terms.
      if (!(thrown instanceof Fault) || thrown.code !== "PERMISSION_DENIED") throw thrown;
    }
  }

  /** News are worth less than the answer: whatever keeps them from being followed does not concern the call. */
  #onAnswered(method: string, request: Uint8Array, response: Uint8Array): void {
    if (this.#isOver) return;
    try {
      this.#news?.onAnswered(method, request, response);
      const fresh = this.#news?.takeFresh() ?? [];
      if (fresh.length > 0) this.#services.live?.onCandidates(this, fresh);
    } catch {
      // Bytes that the store could read and this process cannot: its client hears of them by its own reads.
    }
  }
}

function requireAtMost(field: string, count: number, most: number): void {
  if (count > most) throw invalid([{ field, rule: `must have at most ${most} entries`, value: String(count) }]);
}

function notGrowing(field: string, value: bigint): Fault {
  return invalid([{ field, rule: "must be above 0 and greater than the one before", value: String(value) }]);
}

function tooGreat(field: string, value: bigint, most: bigint): Fault {
  return invalid([{ field, rule: `must be at most ${most}`, value: String(value) }]);
}

function tooSlow(queuedBytes: number, most: number): Fault {
  return limitExceeded(
    "queued-bytes-per-session",
    most,
    `the client reads too slowly: ${queuedBytes} bytes wait for it`,
  );
}

function silent(silentMs: number): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "STREAM_SILENT",
    message: `the client of the session was silent for ${formatDuration(Math.round(silentMs))}: open another session`,
  });
}
