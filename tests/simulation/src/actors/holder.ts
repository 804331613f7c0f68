import { type Claim, type Command, clientKey, type Grant, waiterId } from "@tenure/core";
import type { Random } from "@tenure/kernel";
import type { LeasePlan } from "../profile.ts";
import { timing } from "../store/timing.ts";
import type { StoreClient } from "./store-client.ts";
import { type HolderOptions, TermLife } from "./term-life.ts";

/** What a holder asks for at once: one lease, or several all-or-nothing. */
interface Wish {
  readonly claims: readonly Claim[];
  readonly timing: LeasePlan["timing"];
}

/** A small holder: it claims, tries or waits with beats, and lives through what it is granted. */
export class Holder {
  readonly #options: HolderOptions;
  readonly #client: StoreClient;
  readonly #random: Random;
  readonly #life: TermLife;
  #claims = 0;
  /** The leases that it waits for, and since when on the true clock's own process time. */
  waiting: { readonly leases: readonly string[]; readonly sinceBootMs: number } | undefined;

  constructor(options: HolderOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#random = options.random;
    this.#life = new TermLife(options);
  }

  /** Claims and holds for as long as its process lives. */
  async run(): Promise<void> {
    const { process } = this.#client;
    for (;;) {
      await process.sleep(this.#random.next() < 0.3 ? 1 : this.#random.next() * 150);
      const wish = this.#wish();
      const grants = this.#random.next() < 0.7 ? await this.#wait(wish) : await this.#try(wish);
      if (grants === undefined) continue;
      await this.#life.live(grants.map((grant) => ({ grant, mode: modeOf(wish, grant) })));
    }
  }

  #wish(): Wish {
    const { leases } = this.#options;
    const plan = leases[Math.floor(this.#random.next() * leases.length)];
    if (plan === undefined) throw new Error("a world without leases has no holders");
    const isAlone = plan.group === "" || this.#random.next() < 0.3;
    const others = isAlone ? [] : leases.filter(({ group, key }) => group === plan.group && key !== plan.key);
    const wanted = [plan, ...others.filter(() => this.#random.next() < 0.7)];
    // Claimed together they live by the timing of the one that waits the least, which suits them all.
    const slowest = wanted.every(({ spec }) => spec.lockDelayMs > 0) ? plan.timing : timing;
    return { claims: wanted.map((lease) => this.#claimOn(lease)), timing: slowest };
  }

  #claimOn({ key: lease, spec, use }: LeasePlan): Claim {
    if (use === "counted") return { lease, mode: "counted", units: 1 + Math.floor(this.#random.next() * 2), spec };
    const isShared = use === "readWrite" && this.#random.next() < 0.6;
    return { lease, mode: isShared ? "shared" : "exclusive", units: 1, spec };
  }

  /** Claims without waiting. Given up, the claim may still be granted: then nobody acts on it. */
  async #try(wish: Wish): Promise<readonly Grant[] | undefined> {
    const claim = this.#claimOf(wish);
    const answer = await this.#client.change(partitionOf(this.#client, wish), 2 * timing.requestTimeoutMs, () =>
      claim(this.#life.numbers.next(), undefined),
    );
    return answer?.reply.kind === "granted" ? answer.reply.grants : undefined;
  }

  /** Waits in the queue with beats, sends the wait again to whoever owns the partition, and goes away at last. */
  async #wait(wish: Wish): Promise<readonly Grant[] | undefined> {
    const { process } = this.#client;
    const { numbers } = this.#life;
    const partition = partitionOf(this.#client, wish);
    const claim = this.#claimOf(wish);
    const beginMs = process.boot();
    const patienceMs = 600 + this.#random.next() * 6_000;
    const id = waiterId(clientKey(this.#client.principal, this.#client.clientId), claim.attemptNumber);
    this.waiting = { leases: wish.claims.map(({ lease }) => lease), sinceBootMs: beginMs };
    const abandon: (() => void)[] = [];
    let grants: readonly Grant[] | undefined;
    let isOver = false;
    let isOpen = false;
    while (!isOver && process.boot() - beginMs < patienceMs) {
      if (!isOpen) {
        isOpen = true;
        const command = claim(numbers.next(), process.boot() - beginMs);
        abandon.push(
          this.#client.openWait(partition, command, (answer) => {
            if (answer.kind === "failed") isOpen = false;
            else {
              isOver = true;
              if (answer.value.reply.kind === "granted") grants ??= answer.value.reply.grants;
            }
          }),
        );
      }
      await process.sleep(Math.min(timing.renewIntervalMs / 4, 25));
      if (!isOver && this.#isBeatDue(beginMs)) {
        this.#client.beat(partition, id, numbers.next(), () => {
          isOpen = false;
        });
      }
    }
    if (!isOver) for (const leave of abandon) leave();
    this.waiting = undefined;
    return grants;
  }

  #beatAtMs = 0;

  #isBeatDue(beginMs: number): boolean {
    const now = this.#client.process.boot();
    if (now - Math.max(this.#beatAtMs, beginMs) < timing.renewIntervalMs) return false;
    this.#beatAtMs = now;
    return true;
  }

  #claimOf(wish: Wish) {
    this.#claims += 1;
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    const claimant = {
      holder: this.#client.principal,
      // Says how many leases it is for, so that a part of them is seen to be one.
      holderKey: `${this.#client.clientId}:${this.#claims}/${wish.claims.length}`,
      timing: wish.timing,
      ...(this.#options.participant && { participant: this.#options.participant() }),
    };
    const make = (sendNumber: bigint, ageMs: number | undefined): Command => ({
      kind: "acquire",
      principal: this.#client.principal,
      attempt,
      claims: wish.claims,
      claimant,
      sendNumber,
      ...(ageMs === undefined ? undefined : { wait: { timeoutMs: undefined, ageMs, beatNumber: sendNumber } }),
    });
    return Object.assign(make, { attemptNumber: attempt.number });
  }
}

function partitionOf(client: StoreClient, { claims }: Wish): number {
  return client.partitionOf(claims[0]?.lease ?? "");
}

function modeOf({ claims }: Wish, { lease }: Grant): { readonly kind: Claim["mode"]; readonly units: number } {
  const claim = claims.find((one) => one.lease === lease);
  return { kind: claim?.mode ?? "exclusive", units: claim?.units ?? 1 };
}
