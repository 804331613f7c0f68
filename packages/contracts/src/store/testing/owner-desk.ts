import {
  beatWaiter,
  type Command,
  commitBatch,
  emptyPartition,
  execute,
  executePackedRenewal,
  type OwnedPartition,
  openBatch,
  ownPartition,
  type PackedRenewal,
  type PackedResult,
  type Reply,
  type Settled,
  settleWaiters,
} from "@tenure/core";
import { Fault } from "@tenure/kernel";
import type { AnswerView } from "../answer/answer.ts";
import { encodeBatch } from "../log/batch-codec.ts";

/** An owner of partition 3 whose log always acknowledges, with a clock that tests move. */
export class OwnerDesk {
  now = 10_000;
  wallMs = 1_700_000_000_000;
  sequence = 1_000n;
  readonly owned: OwnedPartition;
  settled: readonly Settled[] = [];
  /** What was appended, in order. */
  readonly payloads: { readonly sequence: bigint; readonly payload: Uint8Array }[] = [];

  constructor() {
    this.owned = ownPartition(emptyPartition(3, this.now), this.now, this.wallMs);
    this.run({ kind: "takeOver", epoch: 1n, owner: "store-1", isHandedOver: false, principal: "store" });
  }

  get view(): AnswerView {
    const { state, waiters } = this.owned;
    return { state, now: this.now, waiters };
  }

  /** Decides one command in a batch of its own. A fault instead of a command is thrown. */
  run(command: Command | Fault): Reply {
    if (command instanceof Fault) throw command;
    openBatch(this.owned, this.now, this.wallMs);
    const reply = execute(this.owned, command, this.now);
    this.settled = settleWaiters(this.owned, this.now);
    this.#commit();
    return reply;
  }

  /** Renews in packed form, in a batch of its own. */
  renew(requests: readonly PackedRenewal[]): readonly PackedResult[] {
    openBatch(this.owned, this.now, this.wallMs);
    const results = requests.map((request) => executePackedRenewal(this.owned, request, this.now));
    this.#commit();
    return results;
  }

  /** Notes a beat of a wait. */
  beat(id: string, beatNumber: bigint): boolean {
    return beatWaiter(this.owned, id, beatNumber, this.now);
  }

  /** Moves both clocks. */
  advance(ms: number): void {
    this.now += ms;
    this.wallMs += ms;
  }

  #commit(): void {
    const { batch, state } = this.owned;
    const { events, prev, prevBatchId } = batch;
    const header = { writer: "store-1", incarnationId: "incarnation-1", snapshot: undefined };
    const batchId = this.sequence.toString(16).padStart(32, "0");
    const { epoch, partition } = state;
    const ids = { batchId, prev, prevBatchId };
    const payload = encodeBatch({ ...header, ...ids, partition, epoch, wallMs: batch.position.wallMs, events });
    this.sequence += 3n;
    this.payloads.push({ sequence: this.sequence, payload });
    commitBatch(this.owned, this.sequence, batchId);
  }
}

/** The value of an answer; a fault is thrown. */
export function valueOfAnswer<T>(answer: T | Fault): T {
  if (answer instanceof Fault) throw answer;
  return answer;
}

/** The fault of an answer; anything else is a mistake of the test. */
export function faultOfAnswer(answer: unknown): Fault {
  if (answer instanceof Fault) return answer;
  throw new Error("a fault was expected");
}

/** The fields that a refused request broke the rules of, in order. Such a refusal says that nothing was applied. */
export function brokenFields(answer: unknown): readonly string[] {
  const { code, details, reason } = faultOfAnswer(answer);
  if (code !== "INVALID_ARGUMENT" || reason !== "INVALID_FIELD" || details.applied !== "NO") {
    throw new Error(`${code} ${reason} does not list fields`);
  }
  return details.violations?.map(({ field }) => field) ?? [];
}
