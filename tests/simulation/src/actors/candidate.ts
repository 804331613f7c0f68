import { CandidateLiveness, leaseKeyToWire } from "@tenure/contracts";
import type { Attempt, CandidateSpec, Claimant, Command, Grant, LeaseSpec } from "@tenure/core";
import { timing } from "../store/timing.ts";
import type { StoreClient } from "./store-client.ts";
import { type HolderOptions, TermLife } from "./term-life.ts";

/** What one who asks to lead is about. */
export interface CandidateOptions extends HolderOptions {
  /** What it says of itself, drawn anew for every registration: an upgrade is a restart. */
  readonly draw: () => CandidateSpec;
  /** Tells coordinators which of its candidacies live; absent: it has to be asked. */
  readonly announce: ((liveness: Uint8Array) => void) | undefined;
  /** Whether nothing goes wrong any more: once it is known, it need not come again. */
  readonly isQuiet: () => boolean;
  /** Whether it never answers when it is asked for a sign of life. */
  readonly isMute: boolean;
  /** Whether it withdraws when it is named to follow: for good, if nothing goes wrong any more. */
  readonly isFickle: boolean;
}

/** What every request for a term has. */
interface TermRequest {
  readonly principal: string;
  readonly attempt: Attempt;
  readonly claimant: Claimant;
  readonly sendNumber: bigint;
}

const alone = { kind: "exclusive", units: 1 } as const;
/** Well below the time for which a beat counts. */
const beatMs = 120;
/** Announcements of a later life are newer than those of an earlier one. */
const beatsPerLife = 1_000_000n;

/** One who asks to lead by election: it registers, and leads only when its own accept is committed (rule 18). */
export class Candidate {
  readonly #options: CandidateOptions;
  readonly #client: StoreClient;
  readonly #life: TermLife;
  readonly #leases: readonly string[];
  /** What leases are created with that may be claimed when no coordinator acts. */
  readonly #fallbacks: ReadonlyMap<string, LeaseSpec>;
  readonly #registered = new Set<string>();
  readonly #left = new Set<string>();
  /** The leases that it is accepting or holding. */
  readonly #busy = new Set<string>();
  #terms = 0;
  #beats: bigint;

  constructor(options: CandidateOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#life = new TermLife(options);
    const elected = options.leases.filter(({ use }) => use === "elected");
    this.#leases = elected.map(({ key }) => key);
    const fallbacks = elected.filter(({ spec }) => spec.fallbackDelayMs !== undefined);
    this.#fallbacks = new Map(fallbacks.map(({ key, spec }) => [key, spec]));
    this.#beats = BigInt(options.client.life) * beatsPerLife;
  }

  /** Registers for every elected lease, and again whenever it is not known any more. */
  async run(): Promise<void> {
    const { announce, isQuiet, random } = this.#options;
    if (announce !== undefined) void this.#beat(announce);
    for (;;) {
      const isLast = isQuiet();
      for (const lease of this.#leases) if (!this.#left.has(lease)) await this.#appear(lease);
      if (isLast && this.#leases.every((lease) => this.#registered.has(lease) || this.#left.has(lease))) return;
      await this.#client.process.sleep(200 + random.next() * 1_500);
    }
  }

  /** It is asked for a sign of life; several times, late, or never. Sometimes it is too slow. */
  async asked(lease: string, pingNumber: bigint): Promise<void> {
    const { isMute, random } = this.#options;
    if (isMute) return;
    const dice = random.next();
    if (dice < 0.3) await this.#client.process.sleep(dice < 0.03 ? 500 : random.next() * 150);
    await this.#answer(lease, pingNumber);
  }

  /** It hears that a leader is asked to finish for it. */
  async named(lease: string): Promise<void> {
    const { isFickle, isQuiet } = this.#options;
    if (!isFickle || !this.#registered.delete(lease)) return;
    if (isQuiet()) this.#left.add(lease);
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const { principal } = this.#client;
    const which = { lease, candidate: principal, expectedRevision: undefined };
    const command: Command = { kind: "withdrawCandidate", principal, attempt, ...which };
    await this.#client.change(this.#client.partitionOf(lease), 2_000, () => command);
  }

  /** It hears that it was chosen; several times, late, or never. */
  async elected(lease: string, token: bigint): Promise<void> {
    const { flaws, random } = this.#options;
    if (this.#busy.has(lease)) return;
    this.#busy.add(lease);
    if (random.next() < 0.5) await this.#client.process.sleep(random.next() * 150);
    const grants = await this.#begin(lease, (by) => ({ kind: "accept", lease, candidate: by.principal, token, ...by }));
    if (grants !== undefined) await this.#lead(lease, grants);
    else if (flaws.actsWhenChosen ?? false) {
      const sendNumber = this.#life.numbers.next();
      await this.#life.live([{ grant: { lease, holdId: 0, token, sendNumber }, mode: alone }]);
    }
    this.#busy.delete(lease);
  }

  /** Names its candidacies for its stream when they are new and now and then; in between the stream just beats. */
  async #beat(announce: (liveness: Uint8Array) => void): Promise<void> {
    const { clientId: instance, principal: name, process } = this.#client;
    const keyed = (leases: readonly string[]) => leases.map((lease) => ({ lease: leaseKeyToWire(lease), name }));
    let named = new Set<string>();
    for (let stream = 1n; ; ) {
      this.#beats += 1n;
      // Now and then its session breaks.
      const isOpen = this.#options.random.next() < 0.95 || this.#options.isQuiet();
      if (!isOpen || this.#beats % 5n === 0n) named = new Set();
      const live = isOpen ? [...this.#registered].filter((lease) => !named.has(lease)) : [];
      const closed = this.#leases.filter((lease) => !isOpen || !this.#registered.has(lease));
      const what = { live: keyed(live), closed: keyed(closed), beating: isOpen ? [stream] : [] };
      const liveness = CandidateLiveness.fromPartial({ instance, sequence: this.#beats, stream, ...what });
      announce(CandidateLiveness.encode(liveness).finish());
      named = new Set([...named, ...live].filter((lease) => this.#registered.has(lease)));
      if (!isOpen) stream += 1n;
      await process.sleep(isOpen ? beatMs : 3 * beatMs);
    }
  }

  async #appear(lease: string): Promise<void> {
    const spec = this.#fallbacks.get(lease);
    if (spec !== undefined && !this.#registered.has(lease)) await this.#create(lease, spec);
    // Who stands for a migration lock registers again with the configuration that it runs with now.
    const isDone = this.#registered.has(lease) && this.#options.participant === undefined;
    const isKnown = isDone ? await this.#answer(lease, 0n) : await this.#register(lease);
    if (isKnown === false) this.#registered.delete(lease);
    else if (isKnown) this.#registered.add(lease);
    if (spec !== undefined && isKnown) void this.#claim(lease, spec);
  }

  #participant(): Pick<CandidateSpec, "participant"> {
    const { participant } = this.#options;
    return participant === undefined ? {} : { participant: participant() };
  }

  /** Claims what may be left to its candidates; mostly a coordinator is faster (rule 21). */
  async #claim(lease: string, spec: LeaseSpec): Promise<void> {
    if (this.#busy.has(lease)) return;
    const claims = [{ lease, mode: "exclusive", units: 1, spec }] as const;
    const grants = await this.#begin(lease, (by) => ({
      kind: "acquire",
      claims,
      fallbackCandidate: by.principal,
      ...by,
    }));
    // Chosen meanwhile, it leaves what it claimed to run out.
    if (grants !== undefined && !this.#busy.has(lease)) await this.#lead(lease, grants);
  }

  async #lead(lease: string, grants: readonly Grant[]): Promise<void> {
    this.#busy.add(lease);
    await this.#life.live(grants.map((grant) => ({ grant, mode: alone })));
    this.#busy.delete(lease);
  }

  /** Asks for a term until that is answered or given up. */
  async #begin(lease: string, make: (by: TermRequest) => Command): Promise<readonly Grant[] | undefined> {
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const { principal } = this.#client;
    this.#terms += 1;
    const holderKey = `${this.#client.clientId}:term-${this.#terms}/1`;
    const claimant = { holder: principal, holderKey, timing, ...this.#participant() };
    const answer = await this.#client.change(this.#client.partitionOf(lease), 4 * timing.requestTimeoutMs, () =>
      make({ principal, attempt, claimant, sendNumber: this.#life.numbers.next() }),
    );
    return answer?.reply.kind === "granted" ? answer.reply.grants : undefined;
  }

  /** As a candidate with a fallback delay does: the lease first, unless somebody has created it. */
  async #create(lease: string, spec: LeaseSpec): Promise<void> {
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const { principal } = this.#client;
    const command: Command = { kind: "create", principal, attempt, lease, spec };
    await this.#client.change(this.#client.partitionOf(lease), 400, () => command);
  }

  async #register(lease: string): Promise<boolean | undefined> {
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const { principal } = this.#client;
    const spec = { ...this.#options.draw(), ...this.#participant() };
    const command: Command = { kind: "registerCandidate", principal, attempt, lease, candidate: principal, spec };
    const answer = await this.#client.change(this.#client.partitionOf(lease), 400, () => command);
    return answer === undefined ? undefined : answer.reply.kind === "candidateChanged";
  }

  /** Answers a ping; 0 only says that it is there. */
  async #answer(lease: string, pingNumber: bigint): Promise<boolean | undefined> {
    const { principal } = this.#client;
    const command: Command = {
      kind: "ackCandidates",
      principal,
      answers: [{ lease, candidate: principal, pingNumber }],
    };
    const partition = this.#client.partitionOf(lease);
    const outcome = await this.#client.commandOnce(partition, command, timing.requestTimeoutMs);
    if (outcome.kind !== "answered" || outcome.value.reply.kind !== "answered") return undefined;
    return outcome.value.reply.isKnown[0];
  }
}
