import { systemClock } from "@tenure/kernel";
import type { Figures } from "../benchmark.ts";
import type { Contender, PeerClient } from "../clients/peer-client.ts";
import { figuresOf } from "./measure.ts";

/**
 * Hand-overs of one lease for some time: the holder releases, the next in line knows that it holds it, and the old
 * holder stands in line again. Timed from the send of the release to the moment when the next one knows.
 */
export async function startHandOvers(client: PeerClient, waiters: number, restMs: number) {
  const lease = `hand-over-${waiters}-${restMs}`;
  const contenders: Contender[] = [];
  for (let number = 0; number <= waiters; number += 1) contenders.push(await client.contender(lease, number));
  const queue = new Queue();
  for (const contender of contenders) queue.enter(contender);
  let holder = await queue.next();
  return async (durationMs: number): Promise<Figures> => {
    const startedAtMs = systemClock.now();
    const latenciesMs: number[] = [];
    for (let nowMs = startedAtMs; nowMs < startedAtMs + durationMs; nowMs = systemClock.now()) {
      if (restMs > 0) await systemClock.sleep(restMs);
      const sentAtMs = systemClock.now();
      const released = holder.contender.release();
      const next = await queue.next();
      latenciesMs.push(next.atMs - sentAtMs);
      await released;
      queue.enter(holder.contender);
      holder = next;
    }
    return figuresOf(latenciesMs.length, systemClock.now() - startedAtMs, latenciesMs);
  };
}

interface Held {
  readonly contender: Contender;
  readonly atMs: number;
}

/** Those who stand in line, and who of them got it, at which instant. */
class Queue {
  readonly #held: Held[] = [];
  #tell: () => void = () => {};
  #failure: unknown;

  enter(contender: Contender): void {
    contender.acquire().then(
      () => {
        this.#held.push({ contender, atMs: systemClock.now() });
        this.#tell();
      },
      (error: unknown) => {
        this.#failure = error;
        this.#tell();
      },
    );
  }

  async next(): Promise<Held> {
    while (this.#held.length === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#tell = resolve;
      });
    }
    const [held] = this.#held.splice(0, 1);
    if (held === undefined) throw new Error("nobody holds it");
    return held;
  }
}
