import { createHash } from "node:crypto";
import {
  type IdentityServiceHeartbeatRequest_Beat as Beat,
  type CallFailure,
  collisionToWire,
  decodeRenewals,
  failureFromFault,
  faultFromFailure,
  type IdentityCollision,
  type IdentityServiceHeartbeatRequest,
  type IdentityServiceHeartbeatResponse,
  LeaseServiceRenewRequest,
  LeaseServiceRenewResponse,
  type PackedRefusal,
  IdentityServiceHeartbeatResponse_Result as Result,
} from "@tenure/contracts";
import { type LeaseKey, type LeaseRecord, leaseKey, nameOf, partitionOf } from "@tenure/core";
import { type Clock, Fault, invalid, toFault } from "@tenure/kernel";
import { packedGroups, type RenewalClient, type RenewalPort, type StoreCalls } from "@tenure/session";
import { OpenRenewals } from "../session/open-renewals.ts";

/** What beats on a stream stand on. */
export interface HeartbeatServices {
  readonly store: StoreCalls;
  readonly renewals: RenewalPort;
  readonly clock: Clock;
  readonly partitions: number;
  /** The namespace of identities. */
  readonly namespace: string;
  /** A record as the log has it; undefined when nothing is known under the name. */
  recordOf(lease: LeaseKey): LeaseRecord | undefined;
  /** Keeps the records fresh, so that a beat for a term that was taken over is known as one; returns what ends that. */
  attend(): () => void;
  /** What a running term belongs to. */
  termOf(partition: number, holdId: number): { readonly lease: LeaseKey } | undefined;
  /** Told how long each beat took from its arrival to its commit. */
  onCommitted(tookMs: number): void;
}

/** Beats of one message, as the API has it. */
const mostBeats = 1_000;
/** How long an owner may take to answer; the next beat follows in any case. */
const beatTimeoutMs = 5_000;
/** Answers of the owners of different partitions that come within this time share a message. */
const answersMs = 50;

/** Refusals that mean: there is no such term any more, register again. */
const goneReasons: ReadonlySet<string> = new Set(["LEASE_NOT_FOUND", "TERM_EXPIRED", "NOT_HOLDER", "REVOKED"]);

interface OpenBeat extends Beat {
  readonly arrivedAtMs: number;
}

/**
 * The beats of one stream, for many instances. Those whose terms are known from the log travel packed with those of all
 * other clients; packed beats pass untouched. Every answer is the owner's.
 */
export class Heartbeat {
  /** Nobody waits for the answer of a last beat: whoever stays alive sends another on another stream. */
  readonly isIdle = true;
  readonly #services: HeartbeatServices;
  readonly #principal: string;
  readonly #send: (message: IdentityServiceHeartbeatResponse) => void;
  /** The stream is over. */
  readonly close: () => void;
  /** Two clients of the coalescer, because their answers are told in different forms. */
  readonly #named: RenewalClient;
  readonly #packed: RenewalClient;
  readonly #open = new OpenRenewals<OpenBeat>();
  #answers: Result[] = [];
  #renewKey: Uint8Array = new Uint8Array(0);
  #renewKeyHash: Uint8Array = new Uint8Array(0);

  constructor(
    services: HeartbeatServices,
    principal: string,
    send: (message: IdentityServiceHeartbeatResponse) => void,
  ) {
    this.#services = services;
    this.#principal = principal;
    this.#send = send;
    this.close = services.attend();
    this.#named = this.#client({
      onRenewed: (acks) => this.#onNamed(acks),
      onRefused: (refusals) => this.#onNamedRefused(refusals),
    });
    this.#packed = this.#client({
      onRenewed: (packedAcks) => this.#send({ results: [], packedAcks }),
      onRefused: (refusals) => this.#onPackedRefused(refusals),
    });
  }

  /** Beats for what a message names. Throws INVALID_ARGUMENT for a message with too much, or no packed beats. */
  receive({ beats, packedBeats, renewKey }: IdentityServiceHeartbeatRequest): void {
    if (beats.length > mostBeats) {
      throw invalid([{ field: "beats", rule: `must have at most ${mostBeats} entries`, value: String(beats.length) }]);
    }
    if (renewKey.length > 0) {
      this.#renewKey = renewKey;
      this.#renewKeyHash = createHash("sha256").update(renewKey).digest();
    }
    if (packedBeats.length > 0) this.#services.renewals.renew(this.#packed, packedGroups(packedBeats));
    const arrivedAtMs = this.#services.clock.now();
    const unknown = beats.map((beat) => ({ ...beat, arrivedAtMs })).filter((beat) => !this.#pack(beat));
    const packed = this.#open.pack();
    if (packed.length > 0) this.#services.renewals.renew(this.#named, packed);
    const byPartition = new Map<number, OpenBeat[]>();
    for (const beat of unknown) {
      const partition = this.#partitionOf(beat.id);
      byPartition.set(partition, [...(byPartition.get(partition) ?? []), beat]);
    }
    for (const [partition, part] of byPartition) this.#beatByName(partition, part);
  }

  #client(told: Pick<RenewalClient, "onRenewed" | "onRefused">): RenewalClient {
    const hash = () => this.#renewKeyHash;
    return {
      principal: this.#principal,
      get renewKeyHash() {
        return hash();
      },
      ...told,
    };
  }

  #pack(beat: OpenBeat): boolean {
    const { id, sendNumber, token } = beat;
    const hold = this.#recordOf(id)?.holdWith(token);
    return hold !== undefined && this.#open.add(beat, this.#partitionOf(id), hold.id, sendNumber);
  }

  #onNamed(acks: Uint8Array): void {
    const results: Result[] = [];
    for (const { holdIds, partition, sendNumber } of decodeRenewals(acks)) {
      for (const holdId of holdIds) {
        const beat = this.#open.take(partition, holdId, sendNumber);
        if (beat !== undefined) results.push(this.#committed(beat));
      }
    }
    this.#tell(results);
  }

  #committed({ arrivedAtMs, id, sendNumber }: OpenBeat): Result {
    const { clock, onCommitted } = this.#services;
    onCommitted(clock.now() - arrivedAtMs);
    return { id, sendNumber, failure: undefined, collision: this.#collisionOf(id) };
  }

  #onNamedRefused(refusals: readonly PackedRefusal[]): void {
    this.#tell(
      refusals.flatMap(({ failure, holdId, partition, sendNumber }) => {
        const beat = this.#open.take(partition, holdId, sendNumber);
        return beat === undefined ? [] : [this.#refused(beat.id, failure)];
      }),
    );
  }

  #onPackedRefused(refusals: readonly PackedRefusal[]): void {
    this.#tell(
      refusals.map(({ failure, holdId, partition }) => {
        const term = this.#services.termOf(partition, Number(holdId));
        const result = this.#refused(term === undefined ? "" : nameOf(term.lease), failure);
        // A term that is over has no name here: its holder knows it by its hold.
        const attributes = { partition: String(partition), holdId: String(holdId) };
        const detail = result.failure?.detail;
        if (result.failure === undefined || detail === undefined) return result;
        return { ...result, failure: { ...result.failure, detail: { ...detail, attributes } } };
      }),
    );
  }

  #refused(id: string, failure: CallFailure | undefined): Result {
    const collision = id === "" ? undefined : this.#collisionOf(id);
    return Result.fromPartial({
      id,
      ...(failure === undefined ? {} : { failure: explain(id, failure) }),
      ...(collision === undefined ? {} : { collision }),
    });
  }

  #beatByName(partition: number, beats: readonly OpenBeat[]): void {
    const { clock, onCommitted, store } = this.#services;
    const renewals = beats.map(({ id, sendNumber, token }) => ({
      lease: { namespace: this.#services.namespace, name: id },
      token,
      sendNumber,
    }));
    const request = LeaseServiceRenewRequest.fromPartial({ renewals, renewKey: this.#renewKey });
    const bytes = LeaseServiceRenewRequest.encode(request).finish();
    const options = { principal: this.#principal, deadlineMs: beatTimeoutMs };
    store.startAtOwner("LeaseService.Renew", partition, bytes, options, (outcome) => {
      const answer = outcome instanceof Fault ? outcome : decodeAnswer(outcome);
      const failures = answer instanceof Fault ? failureFromFault(answer) : undefined;
      this.#tell(
        beats.map((beat, place) => {
          const result = answer instanceof Fault ? undefined : answer.results[place];
          const failure = failures ?? result?.failure;
          if (failure !== undefined || result === undefined) return this.#refused(beat.id, failure);
          onCommitted(clock.now() - beat.arrivedAtMs);
          return { id: beat.id, sendNumber: result.sendNumber, failure, collision: this.#collisionOf(beat.id) };
        }),
      );
    });
  }

  #tell(results: readonly Result[]): void {
    if (results.length === 0) return;
    if (this.#answers.length === 0) this.#services.clock.schedule(answersMs, () => this.#answer());
    this.#answers.push(...results);
  }

  #answer(): void {
    const results = this.#answers;
    this.#answers = [];
    this.#send({ results, packedAcks: new Uint8Array(0) });
  }

  #collisionOf(id: string): IdentityCollision | undefined {
    const record = this.#recordOf(id);
    return record && collisionToWire(record, this.#services.clock.now());
  }

  #recordOf(id: string): LeaseRecord | undefined {
    return this.#services.recordOf(leaseKey(this.#services.namespace, id));
  }

  #partitionOf(id: string): number {
    return partitionOf(leaseKey(this.#services.namespace, id), this.#services.partitions);
  }
}

/** The refusals of the store in the words of identities. */
function explain(id: string, failure: CallFailure): CallFailure {
  const fault = faultFromFailure(failure);
  const name = id === "" ? "the identity" : `identity ${id}`;
  if (goneReasons.has(fault.reason)) {
    const message = `${name} has no running term (${fault.reason}): register again`;
    return failureFromFault(
      new Fault({ code: "NOT_FOUND", reason: "IDENTITY_NOT_FOUND", message, details: fault.details }),
    );
  }
  if (fault.reason !== "FENCED") return failure;
  const message = `${name} was taken over by another process: register again to claim it back`;
  return failureFromFault(
    new Fault({ code: "FAILED_PRECONDITION", reason: "IDENTITY_COLLISION", message, details: fault.details }),
  );
}

function decodeAnswer(bytes: Uint8Array): LeaseServiceRenewResponse | Fault {
  try {
    return LeaseServiceRenewResponse.decode(bytes);
  } catch (thrown) {
    return toFault(thrown);
  }
}
