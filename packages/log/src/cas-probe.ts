import { type Bus, probeSubject } from "@tenure/bus";
import { Backoff, type Clock, type Random, systemClock, systemRandom } from "@tenure/kernel";
import { AppendChannel, type AppendOutcome } from "./append-channel.ts";
import type { AppendRefusal } from "./js-errors.ts";

/** How hard to probe. The defaults fail a broken server (42 % of rounds) with all but certainty. */
export interface ProbeOptions {
  readonly rounds?: number;
  readonly contenders?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly signal?: AbortSignal;
}

/** What the probe saw. */
export interface ProbeResult {
  readonly rounds: number;
  readonly contenders: number;
  /** Rounds that somebody won. */
  readonly decidedRounds: number;
  /** Appends that the server acknowledged: one per decided round on a sound server. */
  readonly acked: number;
  /** Expected sequences for which more than one append was acknowledged. */
  readonly doubleWins: readonly { readonly expected: bigint; readonly winners: number }[];
  /** How the others were refused. */
  readonly refusals: Readonly<Partial<Record<AppendRefusal, number>>>;
  /** True when every round had exactly one winner. */
  readonly passed: boolean;
}

/** One append's patience: beyond a leader change nothing is learnt by waiting. */
const appendTimeoutMs = 2000;

/** How often a round is played again when nobody won it: a leader change outlasts a few. */
const triesPerRound = 12;

const payload = new TextEncoder().encode("tenure compare-and-set probe");

/**
 * Shows that compare-and-set holds: in each round several appends with the same expected sequence race, and at most
 * one may be acknowledged. A server that acknowledges two would hand one lease to two holders. Plays on a subject of
 * its own, so any number of instances may probe at once.
 */
export async function probeCompareAndSet(bus: Bus, options: ProbeOptions = {}): Promise<ProbeResult> {
  const { rounds = 50, contenders = 6, clock = systemClock, random = systemRandom, signal } = options;
  using channel = new AppendChannel(bus, clock);
  const tally = new ProbeTally();
  const backoff = new Backoff({ firstMs: 20, limitMs: 1000 }, random);
  let expected = 0n;
  let fruitless = 0;
  // A round that nobody wins within its tries ends the probe: the servers are not in a state to be judged.
  while (tally.decidedRounds < rounds && fruitless < triesPerRound) {
    signal?.throwIfAborted();
    const outcomes = await race(channel, probeSubject(bus.instance), expected, contenders);
    tally.add(expected, outcomes);
    const next = nextExpected(outcomes);
    if (next !== undefined) expected = next.sequence;
    if (next?.won === true) {
      fruitless = 0;
      backoff.reset();
      continue;
    }
    fruitless += 1;
    await clock.sleep(backoff.next(), signal);
  }
  return tally.result(rounds, contenders);
}

function race(channel: AppendChannel, subject: string, expected: bigint, contenders: number): Promise<AppendOutcome[]> {
  const appends = Array.from({ length: contenders }, () =>
    channel.append({ subject, payload, expectedLastSubjectSequence: expected, timeoutMs: appendTimeoutMs }),
  );
  return Promise.all(appends);
}

/**
 * What the next race must expect: the winner's sequence, or, if all lost against an append whose answer was lost, the
 * one that a conflict names. Undefined: nothing was learnt, play the same again.
 */
export function nextExpected(outcomes: readonly AppendOutcome[]): { sequence: bigint; won: boolean } | undefined {
  const sequences = outcomes.flatMap((outcome) => (outcome.kind === "acked" ? [outcome.sequence] : []));
  if (sequences.length > 0) return { sequence: sequences.reduce((a, b) => (a > b ? a : b)), won: true };
  for (const outcome of outcomes) {
    if (outcome.kind === "refused" && outcome.refusal === "Conflict" && outcome.lastSequence !== undefined)
      return { sequence: outcome.lastSequence, won: false };
  }
  return undefined;
}

/** Counts acknowledgements per expected sequence: the invariant is at most one each, over all tries. */
export class ProbeTally {
  readonly #winners = new Map<bigint, number>();
  readonly #refusals: Partial<Record<AppendRefusal, number>> = {};

  /** Takes in the outcomes of one race. */
  add(expected: bigint, outcomes: readonly AppendOutcome[]): void {
    for (const outcome of outcomes) {
      if (outcome.kind === "acked") this.#winners.set(expected, (this.#winners.get(expected) ?? 0) + 1);
      else this.#refusals[outcome.refusal] = (this.#refusals[outcome.refusal] ?? 0) + 1;
    }
  }

  /** Expected sequences that somebody has won so far. */
  get decidedRounds(): number {
    return this.#winners.size;
  }

  /** The verdict over everything taken in. */
  result(rounds: number, contenders: number): ProbeResult {
    const won = [...this.#winners];
    const doubleWins = won.filter(([, winners]) => winners > 1).map(([expected, winners]) => ({ expected, winners }));
    return {
      rounds,
      contenders,
      decidedRounds: won.length,
      acked: won.reduce((sum, [, winners]) => sum + winners, 0),
      doubleWins,
      refusals: this.#refusals,
      passed: doubleWins.length === 0 && won.length >= rounds,
    };
  }
}
