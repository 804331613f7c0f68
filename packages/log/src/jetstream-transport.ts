import { type Bus, logSubject } from "@tenure/bus";
import { type Clock, type Random, systemClock, systemRandom } from "@tenure/kernel";
import { AppendChannel, type AppendOutcome } from "./append-channel.ts";
import type { LogAppend, LoggedMessage, LogTransport, Tail, TailListener } from "./log-transport.ts";
import { readMessage } from "./stored-message.ts";
import { streamNames } from "./streams.ts";
import { LogTail } from "./tail/log-tail.ts";

/** What the transport stands on. */
export interface JetStreamTransportOptions {
  /** The connection for appends and reads. */
  readonly control: Bus;
  /** The connection for tails; a second one, so that a flood of messages delays no append. Default: `control`. */
  readonly tail?: Bus;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Told why a tail's consumer was given up and made anew; for the log of the process. */
  readonly onInterruption?: (why: string) => void;
}

/**
 * The log on JetStream. Appends are acknowledged at most once for an expected sequence; a tail tells each message once
 * and in order whatever happens to connections, servers, leaders and consumers. The connections belong to the caller.
 */
export class JetStreamTransport implements LogTransport, Disposable {
  readonly #options: JetStreamTransportOptions;
  readonly #channel: AppendChannel;
  readonly #clock: Clock;

  constructor(options: JetStreamTransportOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#channel = new AppendChannel(options.control, this.#clock);
  }

  append({ partition, payload, prev, timeoutMs }: LogAppend): Promise<AppendOutcome> {
    const subject = logSubject(partition);
    return this.#channel.append({ subject, payload, expectedLastSubjectSequence: prev, timeoutMs });
  }

  tail(from: ReadonlyMap<number, bigint>, listener: TailListener): Tail {
    return new LogTail(from, listener, {
      bus: this.#options.tail ?? this.#options.control,
      clock: this.#clock,
      random: this.#options.random ?? systemRandom,
      readLast: (partition) => this.readLast(partition),
      onInterruption: this.#options.onInterruption,
    });
  }

  readAfter(partition: number, sequence: bigint): Promise<LoggedMessage | undefined> {
    const query = { seq: Number(sequence + 1n), next_by_subj: logSubject(partition) };
    return readMessage(this.#options.control, streamNames.log, query);
  }

  readLast(partition: number): Promise<LoggedMessage | undefined> {
    return readMessage(this.#options.control, streamNames.log, { last_by_subj: logSubject(partition) });
  }

  /** Whatever append is in flight becomes `Ambiguous`. Tails go on until they are disposed of. */
  [Symbol.dispose](): void {
    this.#channel[Symbol.dispose]();
  }
}
