import {
  acquireCommand,
  electCommand,
  Lease,
  LeaseServiceAcquireRequest,
  LeaseServiceAcquireResponse,
  LeaseServiceReleaseRequest,
  type LeaseServiceReleaseResponse,
  LeaseServiceRenewRequest,
  type LeaseServiceRenewResponse,
  markEndOfTermCommand,
  pingCommand,
  putStrategyCommand,
  recordDecisionCommand,
  releaseCommand,
  renewCommand,
  renewResponse,
  type StoreServiceElectRequest,
  type StoreServiceMarkEndOfTermRequest,
} from "@tenure/contracts";
import { type Command, describeRefusal, type LeaseKey, type Refusal, type Reply } from "@tenure/core";
import type { CoordinationOptions } from "@tenure/election/coordinator";
import { Fault } from "@tenure/kernel";
import type { StoreClient } from "../actors/store-client.ts";

type Store = CoordinationOptions["store"];

/** Told of what a coordinator asks for, at the instant at which it decides. */
export interface ChoiceListener {
  onElect(lease: LeaseKey, request: StoreServiceElectRequest): void;
  onMark(lease: LeaseKey, request: StoreServiceMarkEndOfTermRequest): void;
}

/**
 * The lease store as a replica of the election service calls it, through the wire's messages. What gets no answer is sent
 * again until its time is over: without an attempt, so that nothing but the revisions keeps it from acting twice.
 */
export class SimulatedElectionStore implements Store {
  readonly #client: StoreClient;
  readonly #listener: ChoiceListener;
  #claims = 0;

  constructor(client: StoreClient, listener: ChoiceListener) {
    this.#client = client;
    this.#listener = listener;
  }

  async acquire(...[request, { deadlineMs, principal }]: Parameters<Store["acquire"]>) {
    const command = well(acquireCommand(LeaseServiceAcquireRequest.fromPartial(request), principal));
    this.#claims += 1;
    const holderKey = `${this.#client.clientId}:shard-${this.#claims}/1`;
    const claimant = { ...command.claimant, holderKey };
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const reply = await this.#send(command.claims[0]?.lease, { ...command, attempt, claimant }, deadlineMs);
    const grants = reply.kind === "granted" ? reply.grants.map(({ token }) => ({ hold: { token } })) : [];
    return LeaseServiceAcquireResponse.fromPartial({ grants });
  }

  async renew(...[input, asking]: Parameters<Store["renew"]>): Promise<LeaseServiceRenewResponse> {
    const request = LeaseServiceRenewRequest.fromPartial(input);
    const command = well(renewCommand(request, asking.principal));
    return well(renewResponse(request.renewals, await this.#send(command.items[0]?.lease, command, asking.deadlineMs)));
  }

  async release(...[request, asking]: Parameters<Store["release"]>): Promise<LeaseServiceReleaseResponse> {
    const command = well(releaseCommand(LeaseServiceReleaseRequest.fromPartial(request), asking.principal));
    await this.#send(command.items[0]?.lease, command, asking.deadlineMs);
    return { released: [], revision: 0n };
  }

  async ping(...[lease, request, asking]: Parameters<Store["ping"]>): Promise<bigint> {
    return revisionOf(await this.#send(lease, well(pingCommand(request, asking.principal)), asking.deadlineMs));
  }

  async elect(...[lease, request, asking]: Parameters<Store["elect"]>): Promise<Lease> {
    this.#listener.onElect(lease, request);
    return this.#change(lease, well(electCommand(request, asking.principal)), asking.deadlineMs);
  }

  async markEndOfTerm(...[lease, request, asking]: Parameters<Store["markEndOfTerm"]>): Promise<Lease> {
    this.#listener.onMark(lease, request);
    return this.#change(lease, well(markEndOfTermCommand(request, asking.principal)), asking.deadlineMs);
  }

  async putStrategy(...[lease, request, asking]: Parameters<Store["putStrategy"]>): Promise<Lease> {
    return this.#change(lease, well(putStrategyCommand(request, asking.principal)), asking.deadlineMs);
  }

  async recordDecision(...[lease, request, asking]: Parameters<Store["recordDecision"]>): Promise<void> {
    await this.#send(lease, well(recordDecisionCommand(request, asking.principal)), asking.deadlineMs);
  }

  async #change(lease: LeaseKey, command: Command, deadlineMs: number): Promise<Lease> {
    return Lease.fromPartial({ revision: revisionOf(await this.#send(lease, command, deadlineMs)) });
  }

  async #send(lease: LeaseKey = "", command: Command, deadlineMs: number): Promise<Reply> {
    const answer = await this.#client.change(this.#client.partitionOf(lease), deadlineMs, () => command);
    if (answer !== undefined) return answer.reply;
    throw new Fault({ code: "UNAVAILABLE", reason: "OWNER_AWAY", message: `nobody answers for ${lease}` });
  }
}

function well<T>(made: T | Fault): T {
  if (made instanceof Fault) throw made;
  return made;
}

/** Where a change stands in the log; a refusal is thrown, as the wire has it. */
function revisionOf(reply: Reply): bigint {
  if (reply.kind === "changed" || reply.kind === "pinged") return reply.position?.sequence ?? 0n;
  throw new Fault(describeRefusal(reply as Refusal));
}
