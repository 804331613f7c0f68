import type { Lease } from "@tenure/contracts";
import {
  CandidateServiceAckRequest,
  CandidateServiceRegisterRequest,
  LeaseServiceAcceptRequest,
  LeaseServiceGetRequest,
  LeaseServiceReleaseRequest,
  ReadConsistency,
  StrategyKind,
} from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import { waitFor } from "@tenure/testkit";
import type { Deployment } from "./deployment.ts";

/** A candidate that does only what a test tells it to, so that an election can be stopped at each of its steps. */
export class StandIn {
  readonly name: string;
  readonly #deployment: Deployment;
  readonly #lease: { readonly namespace: string; readonly name: string };

  constructor(deployment: Deployment, lease: string, name: string) {
    this.#deployment = deployment;
    this.#lease = { namespace: "tests", name: lease };
    this.name = name;
  }

  get key() {
    return { lease: this.#lease, name: this.name };
  }

  async register(binaryVersion = "1.20.0"): Promise<void> {
    const strategy = { kind: StrategyKind.OLDEST_COMPATIBILITY_VERSION };
    const spec = { binaryVersion, compatibilityVersion: binaryVersion, strategy };
    await this.#deployment.candidates.register(
      CandidateServiceRegisterRequest.fromPartial({ candidate: this.key, spec }),
    );
  }

  /** Waits for a ping that it has not answered; resolves with its number. */
  async asked(): Promise<bigint> {
    const look = async () => {
      const { candidate } = await this.#deployment.candidates.get({
        candidate: this.key,
        read: { consistency: ReadConsistency.LINEARIZABLE, minRevision: 0n },
      });
      const { answeredNumber = 0n, number = 0n } = candidate?.ping ?? {};
      return number > answeredNumber ? number : undefined;
    };
    return await waitFor(look, { timeoutMs: 60_000, intervalMs: 20, describe: `${this.name} to be asked` });
  }

  async answer(pingNumber: bigint): Promise<void> {
    await this.#deployment.candidates.ack(
      CandidateServiceAckRequest.fromPartial({ answers: [{ candidate: this.key, pingNumber }] }),
    );
  }

  /** Answers whatever is asked until it is chosen; resolves with the pending token. */
  async chosen(): Promise<bigint> {
    const look = async () => {
      const lease = await leaseOf(this.#deployment, this.#lease.name);
      if (lease?.pending?.candidate === this.name) return lease.pending.token;
      const { candidate } = await this.#deployment.candidates.get({ candidate: this.key, read: undefined });
      const { answeredNumber = 0n, number = 0n } = candidate?.ping ?? {};
      if (number > answeredNumber) await this.answer(number);
      return undefined;
    };
    return await waitFor(look, { timeoutMs: 60_000, intervalMs: 20, describe: `${this.name} to be chosen` });
  }

  /** Accepts; false when that came too late. */
  async accept(token: bigint): Promise<boolean> {
    const claimant = { holder: this.name };
    const request = LeaseServiceAcceptRequest.fromPartial({ candidate: this.key, token, claimant, sendNumber: 1n });
    try {
      await this.#deployment.leases.accept(request);
      return true;
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code === "FAILED_PRECONDITION") return false;
      throw thrown;
    }
  }

  /** Answers, is chosen and accepts, however often it takes. */
  async lead(): Promise<bigint> {
    for (;;) {
      const token = await this.chosen();
      if (await this.accept(token)) return token;
    }
  }

  async release(token: bigint): Promise<void> {
    await this.#deployment.leases.release(
      LeaseServiceReleaseRequest.fromPartial({ items: [{ lease: this.#lease, token }] }),
    );
  }
}

/** A lease as its owner has it; undefined if there is none. */
export async function leaseOf({ leases }: Deployment, name: string, namespace = "tests"): Promise<Lease | undefined> {
  const read = { consistency: ReadConsistency.LINEARIZABLE };
  try {
    return (await leases.get(LeaseServiceGetRequest.fromPartial({ lease: { namespace, name }, read }))).lease;
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === "NOT_FOUND") return undefined;
    throw thrown;
  }
}
