import { systemClock, systemRandom } from "@tenure/kernel";
import { waitFor } from "@tenure/testkit";
import type { Figures, RunOptions } from "../benchmark.ts";
import { eachInFlight } from "./in-flight.ts";
import { quantileBound, scrape, total } from "./metrics.ts";
import { callsInFlight, Population, type Term } from "./population.ts";
import { costOf } from "./process-cost.ts";
import { type Replica, type StoreDeployment, startStoreDeployment } from "./store-deployment.ts";

/** Holds that one message of packed renewals names: every partition has as many, also with 1,000 leases. */
const holdsPerMessage = 40;
/** Messages under way at once. */
const messagesInFlight = 8;
/** How far ahead terms are set to end together: time enough to acquire 10,000 on a slow machine. */
const endAheadMs = 60_000;
/** No term may be shorter: the store would refuse it. */
const shortestTermMs = 4_000;
/** The cost is counted from so long before the first end. */
const leadMs = 500;

/** What some operations took. */
export interface WorkDone {
  readonly count: number;
  readonly tookMs: number;
  /** CPU of the lease-store process. */
  readonly cpuMs: number;
}

/** What acquire + release pairs took. */
export interface PairsDone extends WorkDone {
  /** The time of each acquire and each release. */
  readonly callsMs: readonly number[];
  /** The longest time that the lease store's event loop stood still. */
  readonly stallMs: number;
}

/** A deployment of one replica, filled with leases of which half are held, and the work that is measured on it. */
export class StoreSide implements AsyncDisposable {
  readonly #deployment: StoreDeployment;
  readonly #replica: Replica;
  readonly #population: Population;
  readonly #free: number;
  readonly #held: readonly (readonly Term[])[];

  private constructor(deployment: StoreDeployment, replica: Replica, population: Population, held: readonly Term[]) {
    this.#deployment = deployment;
    this.#replica = replica;
    this.#population = population;
    this.#free = held.length;
    this.#held = Array.from({ length: deployment.partitions }, (_, partition) =>
      held.filter((term) => term.partition === partition),
    );
  }

  static async start(leases: number, { nodeOptions }: RunOptions): Promise<StoreSide> {
    const args = ["--snapshot-after-batches=1000", `--leases-per-namespace=${Math.max(100_000, leases)}`];
    const deployment = await startStoreDeployment({ args, nodeOptions });
    const replica = await deployment.start();
    const population = new Population(deployment);
    await population.create("free", leases / 2);
    const held = await population.acquireAll("held", leases / 2);
    return new StoreSide(deployment, replica, population, held);
  }

  /** Acquire + release pairs on random free leases; no two at a time on the same one. */
  async pairs(count: number): Promise<PairsDone> {
    const callsMs: number[] = [];
    const timed = async <Answer>(act: () => Promise<Answer>): Promise<Answer> => {
      const startedAtMs = systemClock.now();
      const answer = await act();
      callsMs.push(systemClock.now() - startedAtMs);
      return answer;
    };
    const ownShare = Math.floor(this.#free / callsInFlight);
    const perWorker = Math.ceil(count / callsInFlight);
    await scrape(this.#replica.httpUrl); // The longest stall counts from one reading to the next.
    const cost = await this.#costOf(async () => {
      await eachInFlight(callsInFlight, callsInFlight, async (worker) => {
        for (let pair = 0; pair < perWorker; pair += 1) {
          const name = `free-${worker * ownShare + Math.floor(systemRandom.next() * ownShare)}`;
          const term = await timed(() => this.#population.acquire(name, `worker-${worker}`));
          await timed(() => this.#population.release(term, `worker-${worker}`));
        }
      });
    });
    const stallSeconds = total(await scrape(this.#replica.httpUrl), "nodejs_eventloop_lag_max_seconds");
    return { ...cost, count: perWorker * callsInFlight, callsMs, stallMs: stallSeconds * 1_000 };
  }

  /** Messages of packed renewals, each of random holds of one partition. */
  async renewals(messages: number): Promise<WorkDone> {
    let count = 0;
    const cost = await this.#costOf(() =>
      eachInFlight(messages, messagesInFlight, async (number) => {
        const partition = number % this.#held.length;
        const terms = someOf(this.#held[partition] ?? [], holdsPerMessage);
        await this.#population.renew(partition, terms);
        count += terms.length;
      }),
    );
    return { ...cost, count };
  }

  /** Starts a second replica and ends it again. */
  async freshStart(): Promise<Figures> {
    const { process, readyMs } = await this.#deployment.start();
    const { cpuMs, memoryBytes } = await costOf(process.pid);
    await process.stop();
    return { readyMs, readyCpuMs: cpuMs, freshMemoryBytes: memoryBytes };
  }

  /** Has terms of free leases end in the same second, and tells how late they were ended. */
  async expiries(count: number): Promise<Figures> {
    const { httpUrl } = this.#replica;
    const before = await scrape(httpUrl);
    const endAtMs = systemClock.now() + endAheadMs;
    await eachInFlight(count, callsInFlight, async (number) => {
      const leaseMs = endAtMs + (number % 1_000) - systemClock.now();
      if (leaseMs < shortestTermMs) throw new Error(`${number} of ${count} leases were taken in ${endAheadMs} ms`);
      await this.#population.acquire(`free-${number}`, "forgetful", leaseMs);
    });
    const ended = total(before, "tenure_expiries_total") + count;
    const isOver = async () => total(await scrape(httpUrl), "tenure_expiries_total") >= ended;
    await systemClock.sleep(endAtMs - leadMs - systemClock.now());
    const waiting = { describe: `${count} terms to end`, timeoutMs: endAheadMs + 60_000, intervalMs: 500 };
    const { cpuMs } = await this.#costOf(() => waitFor(isOver, waiting));
    const after = await scrape(httpUrl);
    const lagSeconds = quantileBound(before, after, "tenure_store_expiry_lag_seconds", 0.99) ?? Number.NaN;
    return { expiryLagMs: lagSeconds * 1_000, expiryCpuMs: (1_000 * cpuMs) / count };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#deployment[Symbol.asyncDispose]();
  }

  async #costOf(work: () => Promise<unknown>): Promise<{ readonly tookMs: number; readonly cpuMs: number }> {
    const { pid } = this.#replica.process;
    const before = await costOf(pid);
    const startedAtMs = systemClock.now();
    await work();
    const tookMs = systemClock.now() - startedAtMs;
    return { tookMs, cpuMs: (await costOf(pid)).cpuMs - before.cpuMs };
  }
}

/** So many different items, each as likely as the other. */
function someOf<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (items.length <= count) return items;
  const chosen = new Set<Item>();
  while (chosen.size < count) {
    const item = items[Math.floor(systemRandom.next() * items.length)];
    if (item !== undefined) chosen.add(item);
  }
  return [...chosen];
}
