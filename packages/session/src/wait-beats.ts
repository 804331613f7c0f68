import { anonymous } from "@tenure/bus";
import { StoreServiceBeatRequest, StoreServiceBeatResponse, type WaitBeat } from "@tenure/contracts";
import { type Clock, Fault, type Member, Members, type Timer } from "@tenure/kernel";
import type { StoreCallOptions } from "./open-call.ts";
import type { StoreCall } from "./store-call.ts";
import type { OwnerPort } from "./store-calls.ts";

/** Beats of one call, as the owner takes them. */
const mostBeatsPerCall = 5_000;

/** Beats are passed on at most this often. A grant names a beat that is at most about this old, which costs its holder as much of its first term. */
const passOnEveryMs = 100;

/** A beat that takes longer is not worth waiting for: the next one follows. */
const ownCall: StoreCallOptions = { principal: anonymous, deadlineMs: 2_000 };

/** A claim that was sent this recently may not have reached its queue yet; not knowing it means nothing. */
const settlingMs = 1_000;

/** A waiting claim in its group. The call's own place is among those of its partition. */
export interface GroupedCall extends Member {
  readonly call: StoreCall;
}

/** The waiting claims of one client; its newest message counts as the beat of each. */
export class WaitGroup {
  readonly principal: string;
  readonly #calls = new Members<GroupedCall>();
  beatNumber = 0n;

  constructor(principal: string) {
    this.principal = principal;
  }

  get calls(): Iterable<GroupedCall> {
    return this.#calls;
  }

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  add(call: StoreCall): void {
    call.grouped ??= { call, place: -1 };
    this.#calls.add(call.grouped);
  }

  delete(call: StoreCall): void {
    if (call.grouped !== undefined) this.#calls.delete(call.grouped);
  }
}

interface SentBeat {
  readonly call: StoreCall;
  readonly beat: WaitBeat;
}

/**
 * Passes the newest beats of waiting claims on to the owners of their partitions, those of all clients together. A
 * claim that its owner does not know is sent again, with its age.
 */
export class WaitBeats implements Disposable {
  readonly #calls: OwnerPort;
  readonly #clock: Clock;
  readonly #dirty = new Set<WaitGroup>();
  #timer: Timer | undefined;
  #passedOnAtMs = Number.NEGATIVE_INFINITY;

  constructor(calls: OwnerPort, clock: Clock) {
    this.#calls = calls;
    this.#clock = clock;
  }

  /** The client has shown that it lives. */
  beat(group: WaitGroup, sendNumber: bigint): void {
    group.beatNumber = sendNumber;
    if (group.isEmpty) return;
    this.#dirty.add(group);
    if (this.#timer !== undefined) return;
    const delayMs = Math.max(0, this.#passedOnAtMs + passOnEveryMs - this.#clock.now());
    this.#timer = this.#clock.schedule(delayMs, () => this.#passOn());
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#dirty.clear();
  }

  #passOn(): void {
    this.#timer = undefined;
    this.#passedOnAtMs = this.#clock.now();
    const byPartition = new Map<number, SentBeat[]>();
    for (const group of this.#dirty) {
      for (const { call } of group.calls) gather(byPartition, group, call);
    }
    this.#dirty.clear();
    for (const [partition, beats] of byPartition) {
      for (let start = 0; start < beats.length; start += mostBeatsPerCall) {
        this.#send(partition, beats.slice(start, start + mostBeatsPerCall));
      }
    }
  }

  #send(partition: number, sent: readonly SentBeat[]): void {
    const request = StoreServiceBeatRequest.encode({ beats: sent.map(({ beat }) => beat) }).finish();
    this.#calls.startAtOwner("StoreService.Beat", partition, request, ownCall, (outcome) => {
      // Without an answer the next beat follows; a change of owner has the claims sent again in any case.
      if (!(outcome instanceof Fault)) this.#onAnswer(sent, outcome);
    });
  }

  #onAnswer(sent: readonly SentBeat[], answer: Uint8Array): void {
    const now = this.#clock.now();
    for (const place of StoreServiceBeatResponse.decode(answer).unknown) {
      const call = sent[place]?.call;
      if (call !== undefined && now - call.sentAtMs > settlingMs) call.sendAgain();
    }
  }
}

function gather(byPartition: Map<number, SentBeat[]>, { beatNumber, principal }: WaitGroup, call: StoreCall): void {
  const { partition, wait } = call;
  if (partition === undefined || wait === undefined) return;
  wait.noteBeat(beatNumber);
  const beat = {
    clientId: wait.clientId,
    attemptNumber: wait.attemptNumber,
    sendNumber: wait.beatNumber,
    principal,
  };
  const beats = byPartition.get(partition);
  if (beats === undefined) byPartition.set(partition, [{ call, beat }]);
  else beats.push({ call, beat });
}
