import { createHash } from "node:crypto";
import {
  encodeRenewals,
  LeaseServiceAcquireRequest,
  LeaseServiceCreateRequest,
  LeaseServiceReleaseRequest,
} from "@tenure/contracts";
import { partitionOf } from "@tenure/core";
import { Attempts } from "./attempts.ts";
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
/** Who holds what one client holds alone. */
const holder = "holder";
/** Terms that no benchmark outlives. */
const longestLeaseMs = 3_600_000;

/** Many clients of one deployment that make leases, take and release them, and renew what they hold. */
export class Population {
  readonly #deployment: StoreDeployment;
  readonly #attempts = new Attempts();
  #sends = 0;

  constructor(deployment: StoreDeployment) {
    this.#deployment = deployment;
  }

  /** Makes free leases, by one client. */
  async create(prefix: string, count: number): Promise<void> {
    const spec = { leaseDuration: duration(longestLeaseMs) };
    await eachInFlight(count, callsInFlight, async (number) => {
      const lease = { namespace, name: `${prefix}-${number}` };
      await this.#attempts.change("maker", (attempt) =>
        this.#deployment.leases.create(LeaseServiceCreateRequest.fromPartial({ attempt, lease, spec })),
      );
    });
  }

  /** Takes leases; lease `number` is taken by the client `clientOf(number)`. */
  async acquireAll(
    prefix: string,
    count: number,
    leaseMs = longestLeaseMs,
    clientOf: (number: number) => string = () => holder,
  ): Promise<readonly Term[]> {
    const terms: Term[] = new Array(count);
    await eachInFlight(count, callsInFlight, async (number) => {
      terms[number] = await this.acquire(`${prefix}-${number}`, clientOf(number), leaseMs);
    });
    return terms;
  }

  /** Takes one lease for a term of `leaseMs` between renewals. */
  async acquire(name: string, client: string, leaseMs = longestLeaseMs): Promise<Term> {
    const claims = [{ lease: { namespace, name } }];
    const claimant = { holder: client, renewKeyHash: renewKeyHashOf(client), timing: timingOf(leaseMs) };
    const { grants } = await this.#attempts.change(client, (attempt) =>
      this.#deployment.leases.acquire(LeaseServiceAcquireRequest.fromPartial({ attempt, claims, claimant })),
    );
    const hold = grants[0]?.hold;
    if (hold === undefined) throw new Error(`lease ${name} was not granted`);
    return { name, token: hold.token, holdId: Number(hold.holdId), partition: this.partitionOf(name) };
  }

  /** Releases one term. */
  async release({ name, token }: Term, client: string): Promise<void> {
    const items = [{ lease: { namespace, name }, token }];
    const renewKey = renewKeyOf(client);
    const { released } = await this.#attempts.change(client, (attempt) =>
      this.#deployment.leases.release(LeaseServiceReleaseRequest.fromPartial({ attempt, items, renewKey })),
    );
    if (released[0] !== true) throw new Error(`lease ${name} was not held with token ${token}`);
  }

  /** Renews terms of one partition and of the one client in one message. */
  async renew(partition: number, terms: readonly Term[]): Promise<void> {
    this.#sends += 1;
    const holdIds = terms.map(({ holdId }) => holdId).sort((left, right) => left - right);
    const renewals = encodeRenewals([{ partition, sendNumber: this.#sends, holdIds }]);
    const source = { clientId: holder, principal: "bench", renewKeyHash: renewKeyHashOf(holder), renewals };
    const { results } = await this.#deployment.store.renew({ sources: [source] });
    const refusals = results[0]?.refusals.length ?? 0;
    if (refusals > 0) throw new Error(`${refusals} of ${terms.length} renewals were refused`);
  }

  partitionOf(name: string): number {
    return partitionOf(`${namespace}/${name}`, this.#deployment.partitions);
  }
}

/** Each client has a secret that its renewals and releases show, as every client of the SDK has. */
function renewKeyOf(client: string): Uint8Array {
  return createHash("sha256").update(`secret of ${client}`).digest();
}

function renewKeyHashOf(client: string): Uint8Array {
  return createHash("sha256").update(renewKeyOf(client)).digest();
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
