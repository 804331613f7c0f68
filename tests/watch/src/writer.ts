import { LeaseServiceAcquireRequest, LeaseServiceCreateRequest } from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import { type Deployment, waitFor } from "@tenure/testkit";

let attempts = 0n;

/** A fresh attempt, of a client of its own: the store remembers few outcomes of each, and a retry may come late. */
export function attempt() {
  attempts += 1n;
  return { clientId: `test-${process.pid}-${attempts}`, number: 1n, settledBelow: 0n };
}

/** Creates a lease; tried again with the same attempt until it is answered. */
export async function create({ leases }: Deployment, namespace: string, name: string): Promise<void> {
  const request = LeaseServiceCreateRequest.fromPartial({ attempt: attempt(), lease: { namespace, name } });
  await untilAnswered(() => leases.create(request));
}

/** Takes a lease. */
export async function acquire({ leases }: Deployment, namespace: string, name: string): Promise<void> {
  const claims = [{ lease: { namespace, name } }];
  const request = LeaseServiceAcquireRequest.fromPartial({ attempt: attempt(), claims, claimant: { holder: "a" } });
  await untilAnswered(() => leases.acquire(request));
}

async function untilAnswered(call: () => Promise<unknown>): Promise<void> {
  const isAnswered = async () => {
    try {
      await call();
      return { refusal: undefined };
    } catch (thrown) {
      const isPassing = thrown instanceof Fault && ["UNAVAILABLE", "DEADLINE_EXCEEDED"].includes(thrown.code);
      if (isPassing) throw thrown;
      return { refusal: thrown };
    }
  };
  const { refusal } = await waitFor(isAnswered, { describe: "the store to answer", timeoutMs: 60_000 });
  if (refusal !== undefined) throw refusal;
}

/** Creates leases one after the other in several lanes, until it is stopped; notes what was acknowledged. */
export class Writer {
  readonly acknowledged: string[] = [];
  readonly #deployment: Deployment;
  readonly #namespace: string;
  readonly #lanes: Promise<unknown>;
  #isStopped = false;
  #count = 0;

  constructor(deployment: Deployment, namespace: string, lanes = 8) {
    this.#deployment = deployment;
    this.#namespace = namespace;
    this.#lanes = Promise.all(Array.from({ length: lanes }, () => this.#run()));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#lanes;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const name = `lease-${this.#count++}`;
      await create(this.#deployment, this.#namespace, name);
      this.acknowledged.push(name);
    }
  }
}
