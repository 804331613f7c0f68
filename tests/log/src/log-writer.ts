import { systemClock, systemRandom } from "@tenure/kernel";
import { BatchWriter, type CommitOutcome, type CommitTrouble, type LogTransport } from "@tenure/log";

const text = (words: string): Uint8Array => new TextEncoder().encode(words);

/** The id of a test's batch is its whole payload. */
export const batchIdOf = (payload: Uint8Array): string => new TextDecoder().decode(payload);

/** A writer of a partition for tests. */
export function writerOf(
  transport: LogTransport,
  partition: number,
  requestTimeoutMs = 2000,
  onTrouble: (trouble: CommitTrouble) => void = () => undefined,
): BatchWriter {
  const common = { clock: systemClock, random: systemRandom, batchIdOf, onTrouble };
  return new BatchWriter(transport, { ...common, partition, requestTimeoutMs });
}

/** What a writer says became of a batch. */
export interface Report {
  readonly id: string;
  readonly outcome: CommitOutcome;
}

/** Commits batch after batch to one partition until it is stopped, and goes on from what stands there when it loses. */
export class LogWriter {
  readonly reports: Report[] = [];
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;

  constructor(transport: LogTransport, partition: number, name: string, requestTimeoutMs?: number) {
    this.#running = this.#run(writerOf(transport, partition, requestTimeoutMs), name);
  }

  get committed(): readonly Report[] {
    return this.reports.filter(({ outcome }) => outcome.kind === "committed");
  }

  /** Sequences of what was committed. */
  get sequences(): readonly bigint[] {
    return this.committed.map(({ outcome }) => outcome.sequence);
  }

  /** Lets the batch that is under way come to its end. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #run(writer: BatchWriter, name: string): Promise<void> {
    const never = new AbortController().signal;
    let prev = 0n;
    for (let number = 0; !this.#ending.signal.aborted; number += 1) {
      const id = `${name}-${number}`;
      const outcome = await writer.commit(text(id), prev, never);
      this.reports.push({ id, outcome });
      prev = outcome.sequence;
      // The load is to go on during a fault, not to fill the disk: some hundred batches a second are enough.
      await systemClock.sleep(2);
    }
  }
}
