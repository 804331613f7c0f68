import { anonymous } from "@tenure/bus";
import {
  type EndingHold,
  encodeMessage,
  mostHoldsPerCall,
  type PackedRefusal,
  type RenewalSource,
  StoreServiceRenewRequest,
  StoreServiceRenewResponse,
} from "@tenure/contracts";
import { type Clock, Fault, type Timer } from "@tenure/kernel";
import type { Outcome } from "./open-call.ts";
import { type PackedGroup, packGroups } from "./renewal-groups.ts";
import { noPartition, queueFull, refusalsOf, unknownOutcome } from "./renewal-refusals.ts";
import type { OwnerPort } from "./store-calls.ts";

/** Whose renewals they are. */
export interface RenewalClient {
  readonly principal: string;
  /** SHA-256 of the renew key that the client has shown; empty if it has shown none. */
  readonly renewKeyHash: Uint8Array;
  /** Told of committed renewals, in packed form, with the log position of their commit. */
  onRenewed(acks: Uint8Array, endings: readonly EndingHold[], revision: bigint): void;
  /** Told of renewals that were refused, and with UNAVAILABLE of those whose outcome is not known. */
  onRefused(refusals: readonly PackedRefusal[]): void;
}

interface Queued {
  readonly client: RenewalClient;
  readonly groups: PackedGroup[];
  holds: number;
}

/** What one call takes along of a client. */
type Taken = Pick<Queued, "client" | "groups">;

/** What gathers for one partition while a call is under way. */
interface Lane {
  queue: Map<RenewalClient, Queued>;
  isUnderWay: boolean;
  gathering: Timer | undefined;
  /** What waits, in holds and in about the bytes that it takes. */
  holds: number;
  bytes: number;
  /** How many clients the last call was for, and when it was sent. */
  sources: number;
  sentAtMs: number;
}

/** Sources of one call, as the owner takes them. */
const mostSourcesPerCall = 5_000;

/** Packed bytes of one call: well below the largest message that NATS takes by default, 1 MiB. */
const mostBytesPerCall = 512 * 1024;

/** Holds that may wait for a call to one partition's owner; beyond it renewals are refused with UNAVAILABLE. */
const mostQueuedHolds = 1_000_000;

/** Of these one client's: what 16 calls carry, so that a client that runs wild leaves room for the others. */
const mostQueuedPerClient = 16 * mostHoldsPerCall;

/** A renewal that takes longer is worth nothing: its holder has counted it as missed (T). */
const renewTimeoutMs = 2_000;

/** How renewals wait for others to share a call with: it costs the same for one as for a thousand. */
export interface RenewalGathering {
  readonly clock: Clock;
  /** For renewals that are in no hurry: how long they wait. */
  readonly gatherMs?: number;
  /** After a call of several clients the next of the partition is sent this long after it, or later. */
  readonly companyMs?: number;
  /** How long a call may take. */
  readonly deadlineMs?: number;
}

/** Where renewals go. */
export type RenewalPort = Pick<RenewalCoalescer, "renew" | "queuedHolds">;

/**
 * Renews terms of many clients with one call per partition at a time; what comes meanwhile shares the next. Every
 * acknowledgement is the owner's own, with the send number that it committed: nothing is answered from memory.
 */
export class RenewalCoalescer {
  readonly #calls: OwnerPort;
  readonly #gathering: RenewalGathering | undefined;
  readonly #lanes = new Map<number, Lane>();

  constructor(calls: OwnerPort, gathering?: RenewalGathering) {
    this.#calls = calls;
    this.#gathering = gathering;
  }

  /** Renews; what became of it is told to the client, group by group, as it is known. */
  renew(client: RenewalClient, groups: readonly PackedGroup[]): void {
    for (const group of groups) {
      const lane = this.#laneOf(group.partition);
      const fault = lane === undefined ? noPartition(group.partition) : enqueue(lane, client, group);
      if (fault !== undefined) client.onRefused(refusalsOf([group], fault));
    }
    for (const { partition } of groups) this.#gather(partition);
  }

  /** What waits to be sent, in holds. */
  get queuedHolds(): number {
    let holds = 0;
    for (const lane of this.#lanes.values()) holds += lane.holds;
    return holds;
  }

  #laneOf(partition: number): Lane | undefined {
    const known = this.#lanes.get(partition);
    if (known !== undefined) return known;
    if (!this.#calls.hasPartition(partition)) return undefined;
    const empty = { queue: new Map(), holds: 0, bytes: 0 };
    const lane = { ...empty, isUnderWay: false, gathering: undefined, sources: 0, sentAtMs: 0 };
    this.#lanes.set(partition, lane);
    return lane;
  }

  #gather(partition: number): void {
    const lane = this.#lanes.get(partition);
    if (lane === undefined || lane.gathering !== undefined) return;
    const turn = () => {
      lane.gathering = undefined;
      this.#turn(partition);
    };
    const waitMs = this.#gathering?.gatherMs ?? this.#companyMs(lane);
    if (waitMs > 0) lane.gathering = this.#gathering?.clock.schedule(waitMs, turn);
    else turn();
  }

  /** How long to wait for company, where there was some before. */
  #companyMs({ sentAtMs, sources }: Lane): number {
    const { clock, companyMs } = this.#gathering ?? {};
    if (clock === undefined || companyMs === undefined || sources < 2) return 0;
    return sentAtMs + companyMs - clock.now();
  }

  #turn(partition: number): void {
    const lane = this.#lanes.get(partition);
    if (lane === undefined || lane.isUnderWay || lane.queue.size === 0) return;
    const taken = take(lane);
    const sources = taken.map(sourceOf);
    const request = encodeMessage(StoreServiceRenewRequest, { sources });
    const options = { principal: anonymous, deadlineMs: this.#gathering?.deadlineMs ?? renewTimeoutMs };
    lane.isUnderWay = true;
    lane.sources = sources.length;
    lane.sentAtMs = this.#gathering?.clock.now() ?? 0;
    this.#calls.startAtOwner("StoreService.Renew", partition, request, options, (outcome) => {
      lane.isUnderWay = false;
      settle(taken, outcome);
      if (this.#companyMs(lane) > 0) this.#gather(partition);
      else this.#turn(partition);
    });
  }
}

/** Puts a group at the end of its client's; a fault when there is no room for it. */
function enqueue(lane: Lane, client: RenewalClient, group: PackedGroup): Fault | undefined {
  const holds = group.holdIds.length;
  const queued = lane.queue.get(client);
  if ((queued?.holds ?? 0) + holds > mostQueuedPerClient) {
    return queueFull("queued-renewals-per-client", mostQueuedPerClient);
  }
  if (lane.holds + holds > mostQueuedHolds) return queueFull("queued-renewals-per-partition", mostQueuedHolds);
  lane.holds += holds;
  lane.bytes += bytesOf(client, group);
  if (queued === undefined) lane.queue.set(client, { client, groups: [group], holds });
  else {
    queued.groups.push(group);
    queued.holds += holds;
  }
  return undefined;
}

/** About the bytes that a group takes in a call. */
function bytesOf({ principal, renewKeyHash }: RenewalClient, { bytes }: PackedGroup): number {
  return bytes.length + principal.length + renewKeyHash.length;
}

/** Takes from the queue what one call may carry: mostly everything. */
function take(lane: Lane): readonly Taken[] {
  const { bytes, holds, queue } = lane;
  const isAll = queue.size <= mostSourcesPerCall && holds <= mostHoldsPerCall && bytes <= mostBytesPerCall;
  if (!isAll) return takeSome(lane);
  // A map for each call: entries of one that is used again and again grow old with it.
  lane.queue = new Map();
  lane.holds = 0;
  lane.bytes = 0;
  return [...queue.values()];
}

/**
 * Takes as much from the queue as one call may carry, and at least one group. A client of which something is left goes
 * to the end of the queue: nobody waits for all that another sends.
 */
function takeSome(lane: Lane): readonly Taken[] {
  const taken: Taken[] = [];
  let holds = 0;
  let bytes = 0;
  for (const queued of lane.queue.values()) {
    if (taken.length === mostSourcesPerCall) break;
    const fits = ({ bytes: packed, holdIds }: PackedGroup) =>
      holds === 0 || (holds + holdIds.length <= mostHoldsPerCall && bytes + packed.length <= mostBytesPerCall);
    const groups: PackedGroup[] = [];
    for (const group of queued.groups) {
      if (!fits(group)) break;
      groups.push(group);
      holds += group.holdIds.length;
      bytes += bytesOf(queued.client, group);
    }
    if (groups.length === 0) break;
    taken.push({ client: queued.client, groups });
    lane.queue.delete(queued.client);
    if (groups.length === queued.groups.length) continue;
    queued.groups.splice(0, groups.length);
    queued.holds -= groups.reduce((count, { holdIds }) => count + holdIds.length, 0);
    lane.queue.set(queued.client, queued);
    break;
  }
  lane.holds -= holds;
  lane.bytes -= bytes;
  return taken;
}

function sourceOf({ client, groups }: Taken): RenewalSource {
  const { principal, renewKeyHash } = client;
  return { clientId: "", principal, renewKeyHash, renewals: packGroups(groups) };
}

function settle(taken: readonly Taken[], outcome: Outcome): void {
  const answer = outcome instanceof Fault ? outcome : decodeAnswer(outcome, taken.length);
  if (answer instanceof Fault) {
    const fault = unknownOutcome(answer);
    for (const { client, groups } of taken) client.onRefused(refusalsOf(groups, fault));
    return;
  }
  taken.forEach(({ client }, place) => {
    const result = answer.results[place];
    if (result === undefined) return;
    if (result.acks.length > 0) client.onRenewed(result.acks, result.endings, answer.renewalRevision);
    if (result.refusals.length > 0) client.onRefused(result.refusals);
  });
}

function decodeAnswer(bytes: Uint8Array, sources: number): StoreServiceRenewResponse | Fault {
  try {
    const answer = StoreServiceRenewResponse.decode(bytes);
    if (answer.results.length === sources) return answer;
  } catch {
    // Told below: an answer that cannot be read is as good as none.
  }
  return new Fault({ code: "INTERNAL", reason: "MALFORMED_MESSAGE", message: "the owner's answer cannot be read" });
}
