import { eachInFlight } from "../../world/in-flight.ts";
import type { Contender, PeerClient, Renewer, Watched } from "../peer-client.ts";
import { smallValue } from "../small-value.ts";
import { KeepAliveStream, keepingAlive } from "./keep-alive.ts";
import type { EtcdLink } from "./link.ts";
import {
  decodeLeaseId,
  decodeLockKey,
  decodeSucceeded,
  decodeWatched,
  encodeCreate,
  encodeGrant,
  encodeGuardedPut,
  encodeLeaseId,
  encodeLock,
  encodePut,
  encodeUnlock,
  encodeWatch,
  methods,
} from "./messages.ts";

/** Leases that no benchmark outlives. */
const ttlSeconds = 3_600;
/** Calls under way while leases are made. */
const callsInFlight = 64;
/** Keep-alives under way on one stream: more gains nothing. */
const keepAlivesInFlight = 1_000;

/** etcd's leases, transactions, watches and lock service, over any link. */
export class EtcdClient implements PeerClient {
  readonly #link: EtcdLink;
  readonly #prefix = `bench-${process.pid}`;

  constructor(link: EtcdLink) {
    this.#link = link;
  }

  /** A lease, a key under it that was not there, and the end of the lease: three calls, two of them in the log. */
  async pair(lane: number): Promise<void> {
    const lease = await this.#grant();
    await this.#create(`${this.#prefix}/pair-${lane}`, lease);
    await this.#link.unary(methods.leaseRevoke, encodeLeaseId(lease));
  }

  /** By etcd's own lock recipe, which its server runs (`v3lockpb`): no client can be nearer. */
  async contender(name: string): Promise<Contender> {
    const lease = await this.#grant();
    let key: Uint8Array = new Uint8Array(0);
    return {
      acquire: async () => {
        const answer = await this.#link.unary(methods.lock, encodeLock(`${this.#prefix}/${name}`, lease));
        key = decodeLockKey(answer);
      },
      release: () => this.#link.unary(methods.unlock, encodeUnlock(key)),
    };
  }

  async writer(lane: number, isGuarded: boolean): Promise<() => Promise<unknown>> {
    const lockKey = `${this.#prefix}/lock-${lane}`;
    const key = `${this.#prefix}/value-${lane}`;
    let number = 0;
    if (!isGuarded) return () => this.#link.unary(methods.put, encodePut(key, smallValue(number++)));
    const lease = await this.#grant();
    await this.#create(lockKey, lease);
    return async () => {
      const answer = await this.#link.unary(methods.txn, encodeGuardedPut(lockKey, lease, key, smallValue(number++)));
      if (!decodeSucceeded(answer)) throw new Error(`${lockKey} was lost`);
    };
  }

  /** All watches on one stream, as etcd's own clients do. */
  async watched(watchers: number, seen: () => void): Promise<Watched> {
    const key = `${this.#prefix}/watched-${watchers}`;
    let created = 0;
    await new Promise<void>((resolve) => {
      const stream = this.#link.stream(methods.watch, (message) => {
        const { events, isCreated } = decodeWatched(message);
        if (isCreated) created += 1;
        for (let event = 0; event < events; event += 1) seen();
        if (isCreated && created === watchers) resolve();
      });
      for (let watcher = 0; watcher < watchers; watcher += 1) stream.send(encodeWatch(key));
    });
    let number = 0;
    const change = () => this.#link.unary(methods.put, encodePut(key, smallValue(number++)));
    return { prepare: async () => {}, change };
  }

  async renewer(leases: number): Promise<Renewer> {
    const ids: string[] = [];
    await eachInFlight(leases, callsInFlight, async () => void ids.push(await this.#grant()));
    return keepingAlive([new KeepAliveStream(this.#link, ids)], Math.min(keepAlivesInFlight, leases));
  }

  async idle(leases: number): Promise<void> {
    await eachInFlight(leases, callsInFlight, async (number) => {
      const lease = await this.#grant();
      await this.#link.unary(methods.put, encodePut(`${this.#prefix}/idle-${number}`, "held", lease));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#link[Symbol.asyncDispose]();
  }

  async #grant(): Promise<string> {
    return decodeLeaseId(await this.#link.unary(methods.leaseGrant, encodeGrant(ttlSeconds)));
  }

  async #create(key: string, lease: string): Promise<void> {
    const answer = await this.#link.unary(methods.txn, encodeCreate(key, lease));
    if (!decodeSucceeded(answer)) throw new Error(`${key} was there already`);
  }
}
