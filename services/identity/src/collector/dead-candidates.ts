import { type CollectionItem, CollectionOutcome, candidateKeyToWire, durationFromMs } from "@tenure/contracts";
import { type CandidateRecord, elapsedMs, type LeaseKey } from "@tenure/core";
import type { CollectorPorts } from "./collector-ports.ts";
import type { Round } from "./round.ts";

type Ports = Pick<CollectorPorts, "clock" | "listener" | "policy" | "reader" | "store" | "storeBackAtMs">;

/** A candidate past its validity and the grace. */
interface DeadCandidate {
  readonly lease: LeaseKey;
  readonly candidate: CandidateRecord;
  readonly expiredForMs: number;
}

const reason = "collected: not renewed for its validity and the grace";

/** Takes away candidates that nobody renews. */
export class DeadCandidates {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Those that are due, once the collector has watched and the store worked for long enough. */
  due(): readonly DeadCandidate[] {
    const { clock, policy, reader, storeBackAtMs } = this.#ports;
    const now = clock.now();
    const settledMs = Math.max(reader.liveSinceMs ?? now, storeBackAtMs() ?? Number.NEGATIVE_INFINITY);
    if (now - settledMs < policy.settleMs) return [];
    const dead: DeadCandidate[] = [];
    for (let partition = 0; partition < reader.partitions; partition += 1) {
      for (const { candidates, key } of reader.stateOf(partition).leases.values()) {
        for (const candidate of candidates?.values() ?? []) {
          const expiredForMs = elapsedMs(candidate.renewal, now) - candidate.spec.validityMs;
          if (expiredForMs > policy.graceMs) dead.push({ lease: key, candidate, expiredForMs });
        }
      }
    }
    return dead;
  }

  /** Collects one that is due. */
  async collect(dead: DeadCandidate, round: Round): Promise<CollectionItem> {
    const { candidate, expiredForMs, lease } = dead;
    const isCollected = round.isDryRun || (await this.#isCollected(dead, round));
    return {
      subject: { $case: "candidate", value: candidateKeyToWire(lease, candidate.name) },
      outcome: isCollected ? CollectionOutcome.COLLECTED : CollectionOutcome.SPARED,
      expiredFor: durationFromMs(Math.round(expiredForMs)),
    };
  }

  async #isCollected({ candidate, expiredForMs, lease }: DeadCandidate, { asking }: Round): Promise<boolean> {
    const { listener, policy, store } = this.#ports;
    const name = `${lease}/${candidate.name}`;
    const subject = { candidate: candidateKeyToWire(lease, candidate.name) };
    const expectedRevision = candidate.revision.sequence;
    const expectedRenewalRevision = candidate.renewal.sequence;
    const removal = { subject, isDependent: false, graceMs: policy.graceMs, reason };
    const collecting = store.collect({ ...removal, expectedRevision, expectedRenewalRevision }, asking);
    const isCollected = await collecting.catch((fault: unknown) => {
      listener.onFault("collect a candidate", fault);
      return false;
    });
    if (isCollected) listener.onCollected("candidate", name, expiredForMs - policy.graceMs);
    else listener.onSpared("candidate", name);
    return isCollected;
  }
}
