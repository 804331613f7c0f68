import {
  type Decision,
  electionDecisionToWire,
  leaseKeyToWire,
  StoreServiceElectRequest,
  StoreServiceMarkEndOfTermRequest,
  StoreServicePingRequest,
  StoreServicePutStrategyRequest,
  StrategySource,
  strategyConflictToWire,
  strategyToWire,
} from "@tenure/contracts";
import {
  defaultLimits,
  type ElectionAction,
  type ElectionDecision,
  type LeaseKey,
  type LeaseRecord,
} from "@tenure/core";
import { type Clock, type Random, randomBase58 } from "@tenure/kernel";
import type { ElectionStore } from "../store/election-store.ts";
import type { DecisionPort } from "./coordinator.ts";

/** What decisions ask of the lease store. */
export type DecisionStore = Pick<ElectionStore, "elect" | "markEndOfTerm" | "ping" | "putStrategy" | "recordDecision">;

/** What carrying out decisions stands on. */
export interface DecisionSenderOptions {
  readonly store: DecisionStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly instance: string;
  readonly principal: string;
  /** Told that a decision is not kept for Explain, though it was carried out. */
  onNotRecorded(lease: string, thrown: unknown): void;
}

/** A command's answer is waited for this long; then the record is looked at again. */
const commandMs = 2_000;
const idDigits = 10;
/** Of a reason, what history keeps; well below the bound of a note in bytes. */
const mostReasonCharacters = 128;

/** Carries out a coordinator's decisions at the lease store, and has them kept for Explain. */
export class DecisionSender implements DecisionPort {
  readonly #options: DecisionSenderOptions;

  constructor(options: DecisionSenderOptions) {
    this.#options = options;
  }

  async carryOut(decision: ElectionDecision, record: LeaseRecord, now: number): Promise<bigint> {
    const { instance, store } = this.#options;
    const { action } = decision;
    const lease = leaseKeyToWire(record.key);
    const note = { reason: decision.reason.slice(0, mostReasonCharacters) };
    switch (action.kind) {
      case "none":
        return 0n;
      case "ping": {
        const { candidates } = action;
        const request = StoreServicePingRequest.fromPartial({
          lease,
          candidates: [...candidates],
          coordinator: instance,
        });
        return await store.ping(record.key, request, this.#asking());
      }
      case "elect": {
        const { candidate, expectedRevision, strategy } = action;
        const request = StoreServiceElectRequest.fromPartial({
          lease,
          expectedRevision,
          candidate,
          coordinator: instance,
          decision: this.#kept(decision, record, now),
          ...(strategy === undefined ? {} : { strategy: { strategy: strategyToWire(strategy) } }),
        });
        return (await store.elect(record.key, request, this.#asking())).revision;
      }
      case "markEndOfTerm": {
        const { expectedRevision, preferredHolder, token } = action;
        const request = StoreServiceMarkEndOfTermRequest.fromPartial({
          lease,
          expectedRevision,
          endOfTerm: { token, preferredHolder },
          decision: this.#kept(decision, record, now),
          note,
        });
        return (await store.markEndOfTerm(record.key, request, this.#asking())).revision;
      }
      case "clearEndOfTerm": {
        const { expectedRevision } = action;
        const kept = this.#kept(decision, record, now);
        const request = StoreServiceMarkEndOfTermRequest.fromPartial({ lease, expectedRevision, note });
        const { revision } = await store.markEndOfTerm(record.key, request, this.#asking());
        await this.#record(record.key, kept);
        return revision;
      }
      case "putStrategy":
        return await this.#putStrategy(action, decision, record, now);
    }
  }

  async #putStrategy(
    { conflict, expectedRevision, strategy }: Extract<ElectionAction, { kind: "putStrategy" }>,
    decision: ElectionDecision,
    record: LeaseRecord,
    now: number,
  ): Promise<bigint> {
    const request = StoreServicePutStrategyRequest.fromPartial({
      lease: leaseKeyToWire(record.key),
      expectedRevision,
      ...(strategy && {
        strategy: { strategy: strategyToWire(strategy.strategy), source: StrategySource.CONSENSUS },
      }),
      ...(conflict && { conflict: strategyConflictToWire(conflict) }),
    });
    const kept = conflict && this.#kept(decision, record, now);
    const { revision } = await this.#options.store.putStrategy(record.key, request, this.#asking());
    if (kept !== undefined) await this.#record(record.key, kept);
    return revision;
  }

  /** Keeps a decision whose command does not carry it. */
  async #record(lease: LeaseKey, decision: Decision): Promise<void> {
    const { onNotRecorded, store } = this.#options;
    try {
      await store.recordDecision(lease, { attempt: undefined, decision }, this.#asking());
    } catch (thrown) {
      onNotRecorded(lease, thrown);
    }
  }

  /** The decision as it is kept. Made before anything is awaited: records go on with the log. */
  #kept(decision: ElectionDecision, record: LeaseRecord, now: number): Decision {
    const { clock, instance, random } = this.#options;
    return electionDecisionToWire(decision, {
      record,
      id: randomBase58(random, idDigits),
      decidedBy: instance,
      now,
      wallMs: clock.wall(),
      maximumBytes: defaultLimits.decisionBytes / 2,
    });
  }

  #asking() {
    return { principal: this.#options.principal, deadlineMs: commandMs };
  }
}
