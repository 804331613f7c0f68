import { electionCommand } from "../election/command.ts";
import type { ElectionDecision } from "../election/decision.ts";
import { electionDecision } from "../election/election-decision.ts";
import type { RankingExpressions, RankingInput } from "../election/expression.ts";
import { defaultElectionTiming, type ElectionView } from "../election/view.ts";
import type { CommandOf } from "../partition/command.ts";
import { defaultSettings } from "../partition/settings.ts";
import type { CandidateSpec } from "../record/candidate.ts";
import { LeaseRecord } from "../record/lease.ts";
import { defaultLeaseSpec, type LeaseSpec } from "../record/lease-spec.ts";
import { originPosition } from "../record/position.ts";
import type { Strategy, StrategyKind } from "../record/strategy.ts";
import { candidateSpec } from "./candidates.ts";
import { Desk } from "./desk.ts";

/** Rankings that tests write as functions, by the text of their expression. An error is what they throw. */
export function expressionsOf(rankings: Readonly<Record<string, (input: RankingInput) => number>>): RankingExpressions {
  return {
    compile(text) {
      const ranking = rankings[text];
      if (ranking === undefined) return { kind: "refused", problems: [`${text} is unknown`] };
      return {
        kind: "compiled",
        ranking: {
          rank(input) {
            try {
              return { kind: "value", value: ranking(input) };
            } catch (error) {
              return { kind: "error", message: (error as Error).message };
            }
          },
        },
      };
    },
  };
}

/** A strategy of one kind. */
export function strategyOf(kind: StrategyKind, text = ""): Strategy {
  return { kind, expression: kind === "expression" ? text : "", vendor: kind === "vendor" ? text : "" };
}

/** A coordinator, one lease on a real partition, and candidates that answer, accept, renew and finish, or do not. */
export class Arena {
  readonly lease = "billing/scheduler";
  readonly desk = new Desk({ ...defaultSettings, retention: { ...defaultSettings.retention, decisionsPerLease: 4 } });
  /** Candidates that are there: they do what is asked of them. */
  readonly alive = new Set<string>();
  /** Of those, the ones with a live stream; the others answer pings only. */
  readonly streaming = new Set<string>();
  /** Candidates that never accept, though they answer. */
  readonly stubborn = new Set<string>();
  expressions: RankingExpressions = expressionsOf({});
  followedSinceMs = 0;
  commands: string[] = [];

  get record(): LeaseRecord {
    return this.desk.state.leases.get(this.lease) ?? new LeaseRecord(this.lease, originPosition(0));
  }

  get holder(): string {
    return this.record.holds[0]?.holder ?? "";
  }

  get view(): ElectionView {
    const beats = new Map([...this.streaming].map((name) => [name, this.desk.now]));
    const { expressions, followedSinceMs, record } = this;
    return { record, beats, followedSinceMs, expressions, timing: defaultElectionTiming };
  }

  create(spec: Partial<LeaseSpec> = {}): void {
    this.desk.run({ kind: "create", lease: this.lease, spec: { ...defaultLeaseSpec, ...spec } }, "op");
  }

  /** Registers or corrects a candidate. It is there and has a live stream unless said otherwise. */
  join(
    name: string,
    spec: Partial<CandidateSpec> = {},
    more: { priority?: CommandOf<"registerCandidate">["priority"]; life?: "streaming" | "answering" | "dead" } = {},
  ): void {
    const { life = "streaming", priority } = more;
    const body = { kind: "registerCandidate", lease: this.lease, candidate: name, spec: candidateSpec(spec) } as const;
    this.#expect(this.desk.run({ ...body, ...(priority && { priority }) }, name).kind, "candidateChanged");
    if (life !== "dead") this.alive.add(name);
    if (life === "streaming") this.streaming.add(name);
  }

  /** The candidate's process is gone without a word. */
  crash(name: string): void {
    this.alive.delete(name);
    this.streaming.delete(name);
  }

  withdraw(name: string): void {
    this.crash(name);
    const body = { kind: "withdrawCandidate", lease: this.lease, candidate: name } as const;
    this.desk.run({ ...body, expectedRevision: undefined }, name);
  }

  setStrategy(strategy: Strategy | undefined): void {
    const expectedRevision = this.record.created === undefined ? 0n : this.record.revision.sequence;
    const setting = strategy && ({ strategy, source: "operator" } as const);
    const body = { kind: "putStrategy", lease: this.lease, expectedRevision, conflict: undefined } as const;
    this.#expect(this.desk.run({ ...body, strategy: setting }, "op").kind, "changed");
  }

  setPriority(candidate: string, value: number | undefined, expiresAfterMs?: number): void {
    const priority = value === undefined ? undefined : { value, expiresAfterMs };
    const body = { kind: "setPriority", lease: this.lease, candidate, expectedRevision: undefined } as const;
    this.#expect(this.desk.run({ ...body, priority }, "op").kind, "candidateChanged");
  }

  setCordon(candidate: string, isCordoned: boolean): void {
    const cordon = isCordoned ? { expiresAfterMs: undefined } : undefined;
    const body = { kind: "setCordon", lease: this.lease, candidate, expectedRevision: undefined } as const;
    this.#expect(this.desk.run({ ...body, cordon }, "op").kind, "candidateChanged");
  }

  release(name = this.holder): void {
    const token = this.record.holds[0]?.token ?? 0n;
    this.desk.run({ kind: "release", items: [{ lease: this.lease, token }] }, name);
  }

  decide(): ElectionDecision {
    return electionDecision(this.view, this.desk.now);
  }

  /** Decides, and carries the decision out. The store must take every command: its rules are the same. */
  step(): ElectionDecision {
    const decision = this.decide();
    const ballot = { coordinator: "co-1", decision: { id: `d-${this.desk.sequence}`, body: new Uint8Array() } };
    const command = electionCommand(decision.action, this.lease, ballot);
    if (command === undefined) return decision;
    const reply = this.desk.run(command, "election");
    this.#expect(reply.kind, command.kind === "pingCandidates" ? "pinged" : "changed");
    this.commands.push(command.kind);
    return decision;
  }

  /** Lets the candidates that are there do what is due; whether anything was. */
  act(): boolean {
    const sequence = this.desk.sequence;
    for (const { name, ping } of this.record.candidates?.values() ?? []) {
      if (!this.alive.has(name) || ping === undefined || ping.answeredNumber >= ping.number) continue;
      this.desk.run(
        { kind: "ackCandidates", answers: [{ lease: this.lease, candidate: name, pingNumber: ping.number }] },
        name,
      );
    }
    this.#accept();
    const { endOfTerm, holds } = this.record;
    const [hold] = holds;
    if (hold !== undefined && this.alive.has(hold.holder) && endOfTerm?.token === hold.token) this.release();
    return this.desk.sequence !== sequence;
  }

  #accept(): void {
    const { pending } = this.record;
    if (pending === undefined || !this.alive.has(pending.candidate) || this.stubborn.has(pending.candidate)) return;
    const { candidate, token } = pending;
    const body = { kind: "accept", lease: this.lease, candidate, token, sendNumber: 1n } as const;
    this.desk.run({ ...body, claimant: { holder: candidate } }, candidate);
  }

  /** Lets time pass, with the holder's renewals, the candidates' own and what the owner ends by time. */
  pass(ms: number): void {
    let leftMs = ms;
    while (leftMs > 0) {
      const stepMs = Math.min(leftMs, 4_000);
      leftMs -= stepMs;
      this.desk.advance(stepMs);
      const [hold] = this.record.holds;
      if (hold !== undefined && this.alive.has(hold.holder)) {
        this.desk.run(
          { kind: "renew", items: [{ lease: this.lease, token: hold.token, sendNumber: 1n }] },
          hold.principal,
        );
      }
      this.#renewCandidates();
      this.desk.run({ kind: "expire", lease: this.lease }, "owner");
    }
  }

  /** Candidates renew every 5 minutes without being asked. */
  #renewCandidates(): void {
    for (const { name, renewal } of this.record.candidates?.values() ?? []) {
      if (!this.alive.has(name) || this.desk.now - renewal.seenAtMs < 300_000) continue;
      const answers = [{ lease: this.lease, candidate: name, pingNumber: 0n }];
      this.desk.run({ kind: "ackCandidates", answers }, name);
    }
  }

  /**
   * Elections, answers and time until nothing has happened for a minute, but that the silent are asked again; the
   * transitions that it took.
   */
  settle(): number {
    const before = this.record.transitions;
    let quietSinceMs = this.desk.now;
    for (let round = 0; round < 2_000; round++) {
      const decision = this.step();
      const isWaiting = decision.action.kind === "none" || decision.action.kind === "ping";
      if (this.act() || !isWaiting) quietSinceMs = this.desk.now;
      else this.pass(Math.min(decision.lookAgainMs, 5_000));
      if (this.desk.now - quietSinceMs >= 60_000) return this.record.transitions - before;
    }
    throw new Error(`no rest after 2,000 rounds: ${this.commands.slice(-20).join(", ")}`);
  }

  #expect(kind: string, wanted: string): void {
    if (kind !== wanted) throw new Error(`the store answers ${kind}, not ${wanted}`);
  }
}
