import type { Bus } from "@tenure/bus";
import { type ByteSpan, partitionOfBytes } from "@tenure/core";
import { Backoff, type Clock, Fault, Members, type Random, type Timer } from "@tenure/kernel";
import { type AttemptLane, AttemptLanes } from "./attempt-lanes.ts";
import { byteStarts, type StartBytes } from "./byte-service.ts";
import type { OpenCall, Outcome, StoreCallOptions } from "./open-call.ts";
import { OpenWait } from "./open-wait.ts";
import type { OwnerRoutes } from "./owner-routes.ts";
import { type SendPort, StoreCall, type StoreCallInput } from "./store-call.ts";
import { ownerMethods, type StoreMethod, storeDefinitions, storeMethods } from "./store-methods.ts";
import { wireField, wirePathSpan, wireSpan, withWireField } from "./wire-field.ts";

/** What calls of the store stand on. */
export interface StoreCallsOptions {
  readonly bus: Bus;
  readonly routes: OwnerRoutes;
  readonly clock: Clock;
  readonly random: Random;
}

/** How owners are called by those that know the partition. */
export type OwnerPort = Pick<StoreCalls, "hasPartition" | "startAtOwner">;

/** A replaced owner may still have answered; its answer is waited for this long after another was heard of. */
const lateAnswerMs = 100;

/** Where an acquire has its wait. */
const waitField = 4;
const attemptField = 1;

/** Where a text is that is not there: an empty one. */
const nothing: ByteSpan = { start: 0, end: 0 };

/**
 * Brings encoded calls of the services that the lease store serves to the owner of their key: straight to it when its
 * route is known, otherwise by any replica. A change always carries an attempt, its sender's or one made up here, so a
 * call that meets a change of owner is sent again and is applied once. A call ends with its outcome, at its deadline at
 * the latest.
 */
export class StoreCalls implements Disposable {
  readonly #options: StoreCallsOptions;
  readonly #methods = new Map<string, { readonly method: StoreMethod; readonly send: StartBytes }>();
  readonly #ownerMethods: ReadonlyMap<string, StartBytes>;
  readonly #lanes: AttemptLanes;
  readonly #port: SendPort;
  readonly #underWay = new Map<number, Members<StoreCall>>();
  /** Calls that began before the number of partitions was known, and what finds the partition of each. */
  readonly #unplaced = new Map<StoreCall, () => number | undefined>();
  readonly #moves = new Map<number, Timer>();
  readonly #unfollow: () => void;

  constructor(options: StoreCallsOptions) {
    const { bus, clock, random, routes } = options;
    this.#options = options;
    this.#port = {
      clock,
      routes,
      backoff: () => new Backoff({ firstMs: 50, limitMs: 1_000 }, random),
      onOver: (call, lane) => this.#onOver(call, lane),
    };
    this.#lanes = new AttemptLanes(random);
    for (const definition of storeDefinitions) {
      for (const [name, send] of byteStarts(bus, definition)) {
        const method = storeMethods.get(`${definition.name}.${name}`);
        if (method !== undefined) this.#methods.set(`${definition.name}.${name}`, { method, send });
      }
    }
    this.#ownerMethods = ownerMethods(bus);
    this.#unfollow = routes.onChange((partition) => this.#onMoved(partition));
    void routes.whenKnown().then(() => this.#placeAll());
  }

  /** Whether this is a unary method of the store, as `<Service>.<Method>`. */
  serves(name: string): boolean {
    return this.#methods.has(name);
  }

  /** Calls once and rejects with a Fault. An aborted signal gives the call up with CANCELLED. */
  call(name: string, request: Uint8Array, options: StoreCallOptions, signal?: AbortSignal): Promise<Uint8Array> {
    return promised(name, signal, (done) => this.start(name, request, options, done));
  }

  /** As `call`, for a method of the owners: see `startAtOwner`. */
  callAtOwner(
    name: string,
    partition: number,
    request: Uint8Array,
    options: StoreCallOptions,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    return promised(name, signal, (done) => this.startAtOwner(name, partition, request, options, done));
  }

  /**
   * Calls, and tells the outcome once, never before it returns. Throws a Fault for a method that is not the store's,
   * and for a request that is no message.
   */
  start(name: string, request: Uint8Array, options: StoreCallOptions, done: (outcome: Outcome) => void): StoreCall {
    const known = this.#methods.get(name);
    if (known === undefined) throw new Error(`${name} is no method of the store`);
    const { method, send } = known;
    const partition = this.partitionOf(method, request);
    const lane = method.isChange && wireSpan(request, attemptField) === undefined ? this.#lanes.take() : undefined;
    const sent = lane === undefined ? request : withWireField(request, attemptField, lane.encoded);
    const wait = name === "LeaseService.Acquire" ? this.#waitOf(sent) : undefined;
    const isChange = method.isChange;
    const call = this.#begin({ partition, send, request: sent, options, wait, isChange, lane: lane?.lane, done });
    if (partition === undefined && method.keyPath !== undefined && this.#options.routes.partitions === undefined) {
      this.#unplaced.set(call, () => this.partitionOf(method, request));
    }
    return call;
  }

  /** Whether there is such a partition; also while their number is not known. */
  hasPartition(partition: number): boolean {
    const { partitions } = this.#options.routes;
    return partitions === undefined || partition < partitions;
  }

  /**
   * Calls a method that its caller knows the partition of, such as `StoreService.Renew`, at the partition's owner. What
   * is sent must do no harm when it arrives twice.
   */
  startAtOwner(
    name: string,
    partition: number,
    request: Uint8Array,
    options: StoreCallOptions,
    done: (outcome: Outcome) => void,
  ): OpenCall {
    const send = this.#ownerMethods.get(name);
    if (send === undefined) throw new Error(`${name} is no method of an owner`);
    return this.#begin({ partition, send, request, options, wait: undefined, isChange: true, lane: undefined, done });
  }

  /** The partition of a request's key; undefined when it has none, or the number of partitions is not known yet. */
  partitionOf({ keyPath }: StoreMethod, request: Uint8Array): number | undefined {
    const { partitions } = this.#options.routes;
    if (keyPath === undefined || partitions === undefined) return undefined;
    const key = wirePathSpan(request, keyPath);
    if (key === undefined) return undefined;
    const namespace = wireSpan(request, 1, key) ?? nothing;
    return partitionOfBytes(request, namespace, wireSpan(request, 2, key) ?? nothing, partitions);
  }

  /** Sends no call again. Calls that are under way end by themselves. */
  [Symbol.dispose](): void {
    this.#unfollow();
    for (const timer of this.#moves.values()) timer.cancel();
    this.#moves.clear();
    this.#unplaced.clear();
  }

  #begin(input: StoreCallInput): StoreCall {
    const call = new StoreCall(this.#port, input);
    if (input.partition !== undefined) this.#callsOf(input.partition).add(call);
    call.send();
    return call;
  }

  #onOver(call: StoreCall, lane: AttemptLane | undefined): void {
    if (call.partition === undefined) this.#unplaced.delete(call);
    else this.#underWay.get(call.partition)?.delete(call);
    if (lane !== undefined) this.#lanes.giveBack(lane);
  }

  #waitOf(request: Uint8Array): OpenWait | undefined {
    const wait = wireField(request, waitField);
    return wait === undefined ? undefined : new OpenWait(request, wait, this.#options.clock);
  }

  #callsOf(partition: number): Members<StoreCall> {
    let calls = this.#underWay.get(partition);
    if (calls === undefined) {
      calls = new Members();
      this.#underWay.set(partition, calls);
    }
    return calls;
  }

  /** From here on calls that began without a partition follow their owner, and their beats find it. */
  #placeAll(): void {
    for (const [call, find] of this.#unplaced) {
      const partition = find();
      if (partition === undefined) continue;
      call.placeIn(partition);
      this.#callsOf(partition).add(call);
    }
    this.#unplaced.clear();
  }

  /** What was sent to an owner before is sent again, unless that one answers within a moment. */
  #onMoved(partition: number): void {
    if (this.#moves.has(partition)) return;
    const timer = this.#options.clock.schedule(lateAnswerMs, () => {
      this.#moves.delete(partition);
      for (const call of this.#underWay.get(partition)?.all ?? []) call.onMoved();
    });
    this.#moves.set(partition, timer);
  }
}

function promised(
  name: string,
  signal: AbortSignal | undefined,
  start: (done: (outcome: Outcome) => void) => OpenCall,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(cancelled(name));
      return;
    }
    const call = start((outcome) => {
      signal?.removeEventListener("abort", onAbort);
      if (outcome instanceof Fault) reject(outcome);
      else resolve(outcome);
    });
    const onAbort = () => {
      call.cancel();
      reject(cancelled(name));
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function cancelled(name: string): Fault {
  return new Fault({
    code: "CANCELLED",
    reason: "CANCELLED",
    message: `${name} was cancelled by its caller`,
    details: { applied: "UNKNOWN" },
  });
}
