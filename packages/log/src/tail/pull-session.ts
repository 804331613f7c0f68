import type { Msg } from "@nats-io/nats-core";
import type { Bus } from "@tenure/bus";
import type { Clock, Timer } from "@tenure/kernel";
import { expectedSequenceHeader } from "../append-channel.ts";
import { privateInbox } from "../inbox.ts";
import { askOnce, type JetStreamAnswer, refusedBy } from "../jetstream-question.ts";
import { parseSequence } from "../stored-message.ts";
import { parseDelivery } from "./delivery.ts";

/** What a session reads: subjects of one stream, from a position on. */
export interface PullRequest {
  readonly stream: string;
  /** Unique among the stream's consumers. */
  readonly consumer: string;
  readonly subjects: readonly string[];
  /** Messages after this sequence. */
  readonly after: bigint;
}

/** What a session tells. After `onEnd` it tells nothing more. */
export interface PullListener {
  /** The consumer exists; this many messages wait for it. */
  onReady(pending: number): void;
  onDelivery(subject: string, sequence: bigint, prev: bigint | undefined, payload: Uint8Array, pending: number): void;
  /** How long it may rest, after what has come, before it asks for more; 0 to be told everything at once. */
  restMs(): number;
  /** It can go on no longer: whoever wants more opens another session from where this one stood. */
  onEnd(why: string): void;
}

const nanosPerMs = 1_000_000;

/** Messages asked for ahead. With the largest batches, 100 of them stay below a server's limit per connection. */
const window = 100;

/**
 * So often one who rests finds nothing before it waits to be told. A deployment that nobody uses appends a renewal of its
 * own every few hundred ms: whoever looked on for longer than that would never stop looking.
 */
const mostEmptyPulls = 2;

/** How long one pull waits at the server for messages. */
const expiresMs = 30_000;

/** The server says this often that it has nothing; a consumer that is gone says nothing. */
const heartbeatMs = 1000;

/** Two heartbeats missed and half a second of grace: then the consumer is taken for gone. */
const silenceMs = 2500;

/** How often the silence is looked at. */
const watchMs = 250;

/** The server removes a consumer that nobody has pulled from for this long, should our own removal not reach it. */
const inactiveMs = 10_000;

const createTimeoutMs = 2000;

interface CreateAnswer extends JetStreamAnswer {
  readonly num_pending?: number;
}

/**
 * The life of one consumer: an ephemeral pull consumer of our own, in memory, without acknowledgements. Deliveries are
 * in order and without holes, or the session ends; it also ends when the server falls silent, moves or removes the
 * consumer, or the connection drops. It never recovers by itself: that is the tail's part.
 */
export class PullSession implements Disposable {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #request: PullRequest;
  readonly #listener: PullListener;
  readonly #inbox: string;
  readonly #unsubscribe: () => void;
  #watch: Timer | undefined;
  #rest: Timer | undefined;
  #lastContactMs: number;
  #delivered = 0;
  /** Messages that were asked for and have not come. */
  #outstanding = 0;
  /** The last pull takes what is there and waits for nothing. */
  #isCollecting = false;
  /** How often there was nothing, one time after the other. */
  #emptyPulls = 0;
  /** Who waits for what is being collected. */
  #hurried: (() => void)[] = [];
  /** Who came meanwhile: what was collected may be older than what they wait for. */
  #late: (() => void)[] = [];
  #ended = false;

  constructor(bus: Bus, clock: Clock, request: PullRequest, listener: PullListener) {
    this.#bus = bus;
    this.#clock = clock;
    this.#request = request;
    this.#listener = listener;
    this.#lastContactMs = clock.now();
    this.#inbox = privateInbox(bus);
    const subscription = bus.nats.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error !== null) this.#end(`the inbox was refused: ${error.message}`);
        else this.#onMessage(message);
      },
    });
    this.#unsubscribe = () => {
      if (!bus.nats.isClosed() && !subscription.isClosed()) subscription.unsubscribe();
    };
    void this.#open();
  }

  /** Ends a rest: resolves when what was there has been told. Undefined when it does not rest. */
  hurry(): Promise<void> | undefined {
    if (this.#isCollecting) return new Promise((resolve) => this.#late.push(resolve));
    if (this.#rest === undefined) return undefined;
    this.#collect();
    return new Promise((resolve) => this.#hurried.push(resolve));
  }

  /** Ends it without a word, and removes the consumer if the server can be told. */
  [Symbol.dispose](): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#watch?.cancel();
    this.#rest?.cancel();
    this.#tellHurried();
    this.#tellHurried();
    this.#unsubscribe();
    const { stream, consumer } = this.#request;
    if (this.#bus.connected) this.#bus.nats.publish(`$JS.API.CONSUMER.DELETE.${stream}.${consumer}`);
  }

  async #open(): Promise<void> {
    const { stream, consumer } = this.#request;
    const doing = `follow stream ${stream}`;
    const subject = `$JS.API.CONSUMER.CREATE.${stream}.${consumer}`;
    try {
      const body = { stream_name: stream, config: consumerConfig(this.#request), action: "create" };
      const answer = await askOnce<CreateAnswer>(this.#bus, subject, body, { doing, timeoutMs: createTimeoutMs });
      if (answer.error !== undefined) throw refusedBy(doing, answer.error);
      if (this.#ended) return;
      this.#lastContactMs = this.#clock.now();
      this.#watchSilence();
      this.#listener.onReady(answer.num_pending ?? 0);
      if (!this.#ended) this.#collect();
    } catch (thrown) {
      this.#end(thrown instanceof Error ? thrown.message : String(thrown));
    }
  }

  /** Asks for more when it is time to: at once, or after a rest. */
  #goOn(): void {
    const restMs = this.#listener.restMs();
    if (this.#outstanding > 0) {
      if (!this.#isCollecting && restMs === 0 && this.#outstanding <= window / 2) this.#pull(window, false);
    } else if (this.#isCollecting || restMs === 0) this.#collect();
    else this.#rest ??= this.#clock.schedule(restMs, () => this.#collect());
  }

  /** Asks for everything that is there. */
  #collect(): void {
    this.#rest?.cancel();
    this.#rest = undefined;
    this.#pull(window, true);
  }

  /** Everything that was there has come. Who rests looks again later, and after a while of nothing waits to be told. */
  #onCollected(): void {
    this.#isCollecting = false;
    this.#tellHurried();
    if (this.#hurried.length > 0) this.#collect();
    else if (this.#listener.restMs() === 0) this.#pull(window, false);
    else if (this.#emptyPulls >= mostEmptyPulls) this.#pull(1, false);
  }

  #tellHurried(): void {
    const hurried = this.#hurried;
    this.#hurried = this.#late;
    this.#late = [];
    for (const resolve of hurried) resolve();
  }

  /** Has up to `wanted` messages outstanding: those that are there, or also those to come. */
  #pull(wanted: number, isCollecting: boolean): void {
    if (!this.#bus.connected) {
      this.#end("the connection was lost");
      return;
    }
    const batch = wanted - this.#outstanding;
    this.#outstanding = wanted;
    this.#isCollecting = isCollecting;
    const { stream, consumer } = this.#request;
    const body = isCollecting
      ? { batch, no_wait: true }
      : { batch, expires: expiresMs * nanosPerMs, idle_heartbeat: heartbeatMs * nanosPerMs };
    const options = { reply: this.#inbox };
    this.#bus.nats.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(body), options);
  }

  #onMessage(message: Msg): void {
    if (this.#ended) return;
    this.#lastContactMs = this.#clock.now();
    const code = message.headers?.code ?? 0;
    const problem = code === 0 ? this.#deliver(message) : this.#noteStatus(code, message);
    if (problem !== undefined) this.#end(problem);
    else if (!this.#ended) this.#goOn();
  }

  /** Hands a delivery on; says why it cannot be one. */
  #deliver(message: Msg): string | undefined {
    const delivery = parseDelivery(message.reply);
    if (delivery === undefined) return "the server sent a message that is no delivery";
    if (delivery.deliverySequence !== this.#delivered + 1) {
      return `delivery ${delivery.deliverySequence} followed delivery ${this.#delivered}`;
    }
    this.#delivered = delivery.deliverySequence;
    this.#emptyPulls = 0;
    this.#outstanding -= 1;
    const prev = parseSequence(message.headers?.get(expectedSequenceHeader));
    this.#listener.onDelivery(message.subject, delivery.streamSequence, prev, message.data, delivery.pending);
    return undefined;
  }

  /** Notes a heartbeat or the end of a pull; says why the session cannot go on after anything else. */
  #noteStatus(code: number, message: Msg): string | undefined {
    if (code === 100) return undefined;
    if (code === 503) return "the consumer is gone";
    const isNothingThere = code === 404 && this.#isCollecting;
    if (code !== 408 && !isNothingThere) {
      return `the server ended the pull: ${code} ${message.headers?.description ?? ""}`;
    }
    const unserved = isNothingThere ? this.#outstanding : Number(message.headers?.get("Nats-Pending-Messages") ?? "");
    if (!Number.isSafeInteger(unserved)) return "the server ended the pull without saying what is left";
    this.#outstanding = Math.max(0, this.#outstanding - unserved);
    if (isNothingThere) this.#emptyPulls += 1;
    if (this.#isCollecting) this.#onCollected();
    return undefined;
  }

  #watchSilence(): void {
    this.#watch = this.#clock.schedule(watchMs, () => {
      const silentMs = this.#clock.now() - this.#lastContactMs;
      if (silentMs > silenceMs) this.#end(`the server was silent for ${Math.round(silentMs)} ms`);
      else this.#watchSilence();
    });
  }

  #end(why: string): void {
    if (this.#ended) return;
    this[Symbol.dispose]();
    this.#listener.onEnd(why);
  }
}

function consumerConfig({ consumer, subjects, after }: PullRequest): object {
  const start =
    after < 1n ? { deliver_policy: "all" } : { deliver_policy: "by_start_sequence", opt_start_seq: Number(after + 1n) };
  return {
    ...start,
    name: consumer,
    filter_subjects: subjects,
    ack_policy: "none",
    replay_policy: "instant",
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: inactiveMs * nanosPerMs,
  };
}
