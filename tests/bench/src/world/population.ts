import {
  encodeRenewals,
  LeaseServiceAcquireRequest,
  LeaseServiceCreateRequest,
  LeaseServiceReleaseRequest,
} from "@tenure/contracts";
import { partitionOf } from "@tenure/core";
import { eachInFlight } from "./in-flight.ts";
import type { StoreDeployment } from "./store-deployment.ts";

/** One running term. */
export interface Term {
  readonly name: string;
  readonly token: bigint;
  readonly holdId: number;
  readonly partition: number;
}

/** Calls under way at once while a deployment is filled and measured. */
export const callsInFlight = 64;

const namespace = "bench";
/** Terms that no benchmark outlives. */
const longestLeaseMs = 3_600_000;

/** Many clients of one deployment that make leases, take and release them, and renew what they hold. */
export class Population {
  readonly #deployment: StoreDeployment;
  readonly #attempts = new Map<string, bigint>();
  #sends = 0;

  constructor(deployment: StoreDeployment) {
    this.#deployment = deployment;
  }

  /** Makes free leases, by one client. */
  async create(prefix: string, count: number): Promise<void> {
    const spec = { leaseDuration: duration(longestLeaseMs) };
    await eachInFlight(count, callsInFlight, async (number) => {
      const lease = { namespace, name: `${prefix}-${number}` };
      const request = LeaseServiceCreateRequest.fromPartial({ attempt: this.#attempt("maker"), lease, spec });
      await this.#deployment.leases.create(request);
    });
  }

  /** Takes leases; lease `number` is taken by the client `clientOf(number)`. */
  async acquireAll(
    prefix: string,
    count: number,
    leaseMs = longestLeaseMs,
    clientOf: (number: number) => string = () => "holder",
  ): Promise<readonly Term[]> {
    const terms: Term[] = new Array(count);
    await eachInFlight(count, callsInFlight, async (number) => {
      terms[number] = await this.acquire(`${prefix}-${number}`, clientOf(number), leaseMs);
    });
    return terms;
  }

  /** Takes one lease for a term of `leaseMs` between renewals. */
  async acquire(name: string, client: string, leaseMs = longestLeaseMs): Promise<Term> {
    const request = LeaseServiceAcquireRequest.fromPartial({
      attempt: this.#attempt(client),
      claims: [{ lease: { namespace, name } }],
      claimant: { holder: client, timing: timingOf(leaseMs) },
    });
    const { grants } = await this.#deployment.leases.acquire(request);
    const hold = grants[0]?.hold;
    if (hold === undefined) throw new Error(`lease ${name} was not granted`);
    return { name, token: hold.token, holdId: Number(hold.holdId), partition: this.partitionOf(name) };
  }

  /** Releases one term. */
  async release({ name, token }: Term, client: string): Promise<void> {
    const items = [{ lease: { namespace, name }, token }];
    const request = LeaseServiceReleaseRequest.fromPartial({ attempt: this.#attempt(client), items });
    const { released } = await this.#deployment.leases.release(request);
    if (released[0] !== true) throw new Error(`lease ${name} was not held with token ${token}`);
  }

  /** Renews terms of one partition in one message. */
  async renew(partition: number, terms: readonly Term[]): Promise<void> {
    this.#sends += 1;
    const holdIds = terms.map(({ holdId }) => holdId).sort((left, right) => left - right);
    const renewals = encodeRenewals([{ partition, sendNumber: this.#sends, holdIds }]);
    const source = { clientId: "holder", principal: "bench", renewKeyHash: new Uint8Array(0), renewals };
    const { results } = await this.#deployment.store.renew({ sources: [source] });
    const refusals = results[0]?.refusals.length ?? 0;
    if (refusals > 0) throw new Error(`${refusals} of ${terms.length} renewals were refused`);
  }

  partitionOf(name: string): number {
    return partitionOf(`${namespace}/${name}`, this.#deployment.partitions);
  }

  /** A client that keeps few attempts open, as the SDK does: what it no longer asks for need not be remembered. */
  #attempt(clientId: string) {
    const number = (this.#attempts.get(clientId) ?? 0n) + 1n;
    this.#attempts.set(clientId, number);
    const open = BigInt(callsInFlight);
    return { clientId, number, settledBelow: number > open ? number - open : 0n };
  }
}

/** Durations that keep the inequalities, whatever L is. */
function timingOf(leaseMs: number) {
  return {
    leaseDuration: duration(leaseMs),
    usableTerm: duration(leaseMs / 2),
    renewInterval: duration(leaseMs / 10),
    requestTimeout: duration(leaseMs / 10),
  };
}

function duration(ms: number) {
  const whole = Math.round(ms);
  return { seconds: BigInt(Math.floor(whole / 1_000)), nanos: (whole % 1_000) * 1_000_000 };
}
