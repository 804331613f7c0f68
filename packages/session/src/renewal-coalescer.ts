import { anonymous } from "@tenure/bus";
import {
  type EndingHold,
  failureFromFault,
  type PackedRefusal,
  type RenewalSource,
  StoreServiceRenewRequest,
  StoreServiceRenewResponse,
} from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import type { Outcome, StoreCallOptions } from "./open-call.ts";
import { mostHoldsPerCall, type PackedGroup, packGroups } from "./renewal-groups.ts";
import type { OwnerPort } from "./store-calls.ts";

/** Whose renewals they are. */
export interface RenewalClient {
  readonly clientId: string;
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
}

/** What gathers for one partition while a call is under way. */
interface Lane {
  readonly queue: Map<RenewalClient, Queued>;
  isUnderWay: boolean;
  holds: number;
}

/** Sources of one call, as the owner takes them. */
const mostSourcesPerCall = 5_000;

/** Packed bytes of one call: well below the largest message that NATS takes by default, 1 MiB. */
const mostBytesPerCall = 512 * 1024;

/** Holds that may wait for a call to one partition's owner; beyond it renewals are refused with UNAVAILABLE. */
const mostQueuedHolds = 1_000_000;

/** A renewal that takes longer is worth nothing: its holder has counted it as missed (T, 2 s). */
const ownCall: StoreCallOptions = { principal: anonymous, deadlineMs: 2_000 };

/**
 * Renews terms of many clients with one call per partition at a time; what comes meanwhile shares the next. Every
 * acknowledgement is the owner's own, with the send number that it committed: nothing is answered from memory.
 */
export class RenewalCoalescer {
  readonly #calls: OwnerPort;
  readonly #lanes = new Map<number, Lane>();

  constructor(calls: OwnerPort) {
    this.#calls = calls;
  }

  /** Renews; what became of it is told to the client, group by group, as it is known. */
  renew(client: RenewalClient, groups: readonly PackedGroup[]): void {
    for (const group of groups) {
      const lane = this.#laneOf(group.partition);
      if (lane === undefined || lane.holds + group.holdIds.length > mostQueuedHolds) {
        client.onRefused(refusals([group], lane === undefined ? noPartition(group.partition) : queueFull()));
        continue;
      }
      const queued = lane.queue.get(client);
      if (queued === undefined) lane.queue.set(client, { client, groups: [group] });
      else queued.groups.push(group);
      lane.holds += group.holdIds.length;
    }
    for (const { partition } of groups) this.#turn(partition);
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
    const lane = { queue: new Map(), isUnderWay: false, holds: 0 };
    this.#lanes.set(partition, lane);
    return lane;
  }

  #turn(partition: number): void {
    const lane = this.#lanes.get(partition);
    if (lane === undefined || lane.isUnderWay || lane.queue.size === 0) return;
    const taken = takeSome(lane);
    const sources = taken.map(sourceOf);
    const request = StoreServiceRenewRequest.encode({ sources }).finish();
    lane.isUnderWay = true;
    this.#calls.startAtOwner("StoreService.Renew", partition, request, ownCall, (outcome) => {
      lane.isUnderWay = false;
      settle(taken, outcome);
      this.#turn(partition);
    });
  }
}

/** Takes as much from the queue as one call may carry, and at least one group. */
function takeSome(lane: Lane): readonly Queued[] {
  const taken: Queued[] = [];
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
      bytes += group.bytes.length + queued.client.clientId.length + queued.client.principal.length;
    }
    if (groups.length === 0) break;
    taken.push({ client: queued.client, groups });
    if (groups.length < queued.groups.length) {
      queued.groups.splice(0, groups.length);
      break;
    }
    lane.queue.delete(queued.client);
  }
  lane.holds -= holds;
  return taken;
}

function sourceOf({ client, groups }: Queued): RenewalSource {
  const { clientId, principal, renewKeyHash } = client;
  return { clientId, principal, renewKeyHash, renewals: packGroups(groups.map(({ bytes }) => bytes)) };
}

function settle(taken: readonly Queued[], outcome: Outcome): void {
  const answer = outcome instanceof Fault ? outcome : decodeAnswer(outcome, taken.length);
  if (answer instanceof Fault) {
    const fault = unknownOutcome(answer);
    for (const { client, groups } of taken) client.onRefused(refusals(groups, fault));
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

function refusals(groups: readonly PackedGroup[], fault: Fault): readonly PackedRefusal[] {
  const failure = failureFromFault(fault);
  return groups.flatMap(({ holdIds, partition, sendNumber }) =>
    holdIds.map((holdId) => ({ holdId: BigInt(holdId), partition, sendNumber: BigInt(sendNumber), failure })),
  );
}

/** Whatever kept the answer away, the holder learns only that nothing is known and its next renewal decides. */
function unknownOutcome({ message, reason }: Fault): Fault {
  return new Fault({ code: "UNAVAILABLE", reason, message, details: { applied: "UNKNOWN" } });
}

function noPartition(partition: number): Fault {
  const violation = { field: "renewals", rule: "must be of a partition that exists", value: String(partition) };
  return new Fault({
    code: "INVALID_ARGUMENT",
    reason: "INVALID_FIELD",
    message: `partition ${partition} does not exist`,
    details: { applied: "NO", violations: [violation] },
  });
}

function queueFull(): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    reason: "LIMIT_EXCEEDED",
    message: `more than ${mostQueuedHolds} renewals wait for the partition's owner`,
    details: { applied: "NO", limit: { name: "queued-renewals-per-partition", value: BigInt(mostQueuedHolds) } },
  });
}
