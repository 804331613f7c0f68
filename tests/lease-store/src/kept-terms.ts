import { LeaseServiceRenewRequest } from "@tenure/contracts";
import { partitionOf } from "@tenure/core";
import { Fault, systemClock } from "@tenure/kernel";
import type { Deployment } from "@tenure/testkit";
import { acquire, acquireRequest, key } from "./requests.ts";
import { Routes } from "./routes.ts";

/** Short enough to run out if a failure costs a holder its renewals or an owner judges too early. */
const leaseMs = 6_000;
const renewIntervalMs = 500;
/** One try; a call to an owner that has gone is sent again with the next. */
const callMs = 1_000;

interface Kept {
  readonly name: string;
  readonly token: bigint;
  readonly partition: number;
  renewedAtMs: number;
  sends: bigint;
}

/**
 * Holders that renew short terms as clients do, and thieves that try to take each of them all the time. Tells every term
 * that ended, or was another's, before its duration had passed since its last acknowledged renewal was sent.
 */
export class KeptTerms {
  readonly surprises: string[] = [];
  readonly #deployment: Deployment;
  readonly #routes: Routes;
  #isRunning = true;
  #missed = 0;
  #loops: readonly Promise<void>[] = [];

  private constructor(deployment: Deployment) {
    this.#deployment = deployment;
    this.#routes = new Routes(deployment.bus);
  }

  /** Takes `count` leases and keeps them. */
  static async start(deployment: Deployment, count: number): Promise<KeptTerms> {
    const terms = new KeptTerms(deployment);
    const names = Array.from({ length: count }, (_, number) => `short-${number}`);
    const taken = await Promise.all(
      names.map(async (name): Promise<Kept> => {
        const renewedAtMs = systemClock.now();
        const { token } = await acquire(deployment, "keeper", name, leaseMs);
        return { name, token, partition: partitionOf(`conformance/${name}`, 8), renewedAtMs, sends: 0n };
      }),
    );
    terms.#loops = taken.flatMap((kept) => [terms.#keep(kept), terms.#steal(kept)]);
    return terms;
  }

  /** Terms that ended because no renewal got through for their whole duration. */
  get missed(): number {
    return this.#missed;
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#loops);
    this.#routes[Symbol.dispose]();
  }

  async #keep(kept: Kept): Promise<void> {
    const { name, partition, token } = kept;
    while (this.#isRunning) {
      kept.sends += 1n;
      const sentAtMs = systemClock.now();
      const renewals = [{ lease: key(name), token, sendNumber: kept.sends }];
      const request = LeaseServiceRenewRequest.fromPartial({ renewals });
      const options = { principal: "keeper", deadlineMs: callMs };
      try {
        const call = (more: object) => this.#deployment.leases.renew(request, { ...options, ...more });
        const { results } = await this.#routes.send(partition, call);
        if (results[0]?.failure !== undefined) {
          this.#noteEnd(kept, "lost");
          return;
        }
        kept.renewedAtMs = sentAtMs;
      } catch (thrown) {
        if (!isPassing(thrown)) this.surprises.push(`${name}: ${thrown}`);
      }
      await systemClock.sleep(renewIntervalMs);
    }
  }

  /** A term may end when it could not be renewed for its whole duration, counted from the send: never before. */
  #noteEnd({ name, renewedAtMs }: Kept, how: "lost" | "stolen"): void {
    const afterMs = systemClock.now() - renewedAtMs;
    if (afterMs < leaseMs) this.surprises.push(`${name} was ${how} ${afterMs} ms after its last renewal was sent`);
    else this.#missed += 1;
  }

  async #steal(kept: Kept): Promise<void> {
    const { name, partition } = kept;
    while (this.#isRunning) {
      const request = acquireRequest("thief", name, leaseMs);
      const options = { principal: "thief", deadlineMs: callMs };
      try {
        const call = (more: object) => this.#deployment.leases.acquire(request, { ...options, ...more });
        await this.#routes.send(partition, call);
        this.#noteEnd(kept, "stolen");
        return;
      } catch (thrown) {
        if (!isPassing(thrown) && !isHeld(thrown)) this.surprises.push(`${name}: ${thrown}`);
      }
      await systemClock.sleep(renewIntervalMs / 2);
    }
  }
}

function isPassing(thrown: unknown): boolean {
  return thrown instanceof Fault && ["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"].includes(thrown.code);
}

function isHeld(thrown: unknown): boolean {
  return thrown instanceof Fault && thrown.reason === "LEASE_HELD";
}
