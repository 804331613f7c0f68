import type { CandidateSpec, Command } from "@tenure/core";
import { timing } from "../store/timing.ts";
import type { StoreClient } from "./store-client.ts";
import { type HolderOptions, TermLife } from "./term-life.ts";

const spec: CandidateSpec = {
  binaryVersion: "1.0.0",
  compatibilityVersion: "1.0.0",
  strategy: { kind: "oldestCompatibilityVersion", expression: "", vendor: "" },
  labels: {},
  zone: "",
  preference: "neutral",
  isHealthy: true,
  healthNote: "",
  // Longer than any run, so that a candidate counts for as long as its record is there.
  validityMs: 60_000,
  identity: "",
};

/** One who asks to lead by election: it registers, and leads only when its own accept is committed (rule 18). */
export class Candidate {
  readonly #options: HolderOptions;
  readonly #client: StoreClient;
  readonly #life: TermLife;
  /** The leases that it is accepting or holding. */
  readonly #busy = new Set<string>();
  #accepts = 0;

  constructor(options: HolderOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#life = new TermLife(options);
  }

  /** Registers for every elected lease, and again whenever it is not known any more. */
  async run(): Promise<void> {
    const { process } = this.#client;
    const leases = this.#options.leases.filter(({ use }) => use === "elected").map(({ key }) => key);
    const registered = new Set<string>();
    for (;;) {
      for (const lease of leases) {
        const isKnown = registered.has(lease) ? await this.#renew(lease) : await this.#register(lease);
        if (isKnown === false) registered.delete(lease);
        else if (isKnown) registered.add(lease);
      }
      await process.sleep(200 + this.#options.random.next() * 1_500);
    }
  }

  /** It hears that it was chosen; several times, late, or never. */
  async elected(lease: string, token: bigint): Promise<void> {
    const { flaws, random } = this.#options;
    if (this.#busy.has(lease)) return;
    this.#busy.add(lease);
    if (random.next() < 0.5) await this.#client.process.sleep(random.next() * 150);
    const grants = await this.#accept(lease, token);
    if (grants !== undefined) await this.#life.live(grants.map((grant) => ({ grant, mode: alone })));
    else if (flaws.actsWhenChosen ?? false) {
      const sendNumber = this.#life.numbers.next();
      await this.#life.live([{ grant: { lease, holdId: 0, token, sendNumber }, mode: alone }]);
    }
    this.#busy.delete(lease);
  }

  async #accept(lease: string, token: bigint) {
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const { principal } = this.#client;
    this.#accepts += 1;
    const claimant = { holder: principal, holderKey: `${this.#client.clientId}:accept-${this.#accepts}/1`, timing };
    const answer = await this.#client.change(this.#client.partitionOf(lease), 4 * timing.requestTimeoutMs, () => {
      const sendNumber = this.#life.numbers.next();
      return { kind: "accept", principal, attempt, lease, candidate: principal, token, claimant, sendNumber };
    });
    return answer?.reply.kind === "granted" ? answer.reply.grants : undefined;
  }

  async #register(lease: string): Promise<boolean | undefined> {
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const { principal } = this.#client;
    const command: Command = { kind: "registerCandidate", principal, attempt, lease, candidate: principal, spec };
    const answer = await this.#client.change(this.#client.partitionOf(lease), 400, () => command);
    return answer === undefined ? undefined : answer.reply.kind === "candidateChanged";
  }

  async #renew(lease: string): Promise<boolean | undefined> {
    const { principal } = this.#client;
    const answers = [{ lease, candidate: principal, pingNumber: 0n }];
    const command: Command = { kind: "ackCandidates", principal, answers };
    const partition = this.#client.partitionOf(lease);
    const outcome = await this.#client.commandOnce(partition, command, timing.requestTimeoutMs);
    if (outcome.kind !== "answered" || outcome.value.reply.kind !== "answered") return undefined;
    return outcome.value.reply.isKnown[0];
  }
}

const alone = { kind: "exclusive", units: 1 } as const;
