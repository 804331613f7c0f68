import { isDeepStrictEqual } from "node:util";
import { type Participant, takeSnapshot } from "@tenure/core";
import type { MemoryLog } from "@tenure/log/memory";
import type { LeaseReading } from "../actors/reader.ts";
import type { WatcherListener } from "../actors/watcher.ts";
import type { ElectionNode } from "../store/election-node.ts";
import type { ChoiceListener } from "../store/election-store.ts";
import { incarnationId, type NodeListener, type ReplicaNode } from "../store/replica-node.ts";
import { livenessBoundMs, stopBoundMs } from "../store/timing.ts";
import type { VirtualTime } from "../time/virtual-time.ts";
import { AnswerJudge } from "./answer-judge.ts";
import { ChangeRecord } from "./change-record.ts";
import { CoordinationJudge } from "./coordination-judge.ts";
import { Court } from "./court.ts";
import { LeaderJudge } from "./leader-judge.ts";
import { LogJudge } from "./log-judge.ts";
import { LogRecord } from "./log-record.ts";
import { LossJudge } from "./loss-judge.ts";
import { MigrationJudge } from "./migration-judge.ts";
import { PaceJudge } from "./pace-judge.ts";
import { type BelievedTerm, TermJudge } from "./term-judge.ts";
import { demand, Violation } from "./violation.ts";
import { WatchJudge } from "./watch-judge.ts";
import { WatcherJudge } from "./watcher-judge.ts";
import { WriterSight } from "./writer-sight.ts";

/** All that watches a world. Whatever one of them finds ends the run. */
export class Oracles {
  readonly court = new Court();
  readonly logs: readonly LogRecord[];
  readonly terms: TermJudge;
  readonly watches: WatchJudge;
  readonly answers: AnswerJudge;
  readonly judge: LogJudge;
  readonly leaders = new LeaderJudge();
  readonly migrations = new MigrationJudge();
  readonly #coordination = new CoordinationJudge();
  readonly #pace: PaceJudge;
  readonly #losses: LossJudge;
  readonly #changes = new ChangeRecord();
  readonly #watchers = new Map<string, WatcherJudge>();
  readonly #time: VirtualTime;

  constructor(
    time: VirtualTime,
    log: MemoryLog,
    partitions: number,
    nodeOf: (instance: string) => ReplicaNode | undefined,
    capacityOf: (lease: string) => number,
  ) {
    this.#time = time;
    this.logs = Array.from({ length: partitions }, (_, partition) => new LogRecord(partition, this.#changes));
    this.terms = new TermJudge(time, stopBoundMs, capacityOf);
    this.watches = new WatchJudge(this.logs);
    this.judge = new LogJudge(nodeOf);
    this.answers = new AnswerJudge(this.logs, this.judge);
    this.#pace = new PaceJudge(new WriterSight(nodeOf));
    this.#losses = new LossJudge(log);
    const all = new Set(this.logs.keys());
    let last = 0n;
    log.watch(() => {
      if (!this.#losses.hasLost)
        for (let next = log.next(all, last); next !== undefined; next = log.next(all, last)) {
          const message = next;
          last = message.sequence;
          this.court.examine(() => this.#take(this.#logOf(message.partition), message));
        }
    });
  }

  /** What replicas tell, examined without disturbing them. */
  get nodeListener(): NodeListener {
    const { answers, court, watches } = this;
    return {
      onApplied: (node, applied) => court.examine(() => watches.applied(node, applied)),
      onReloaded: (node, partition) => court.examine(() => watches.reloaded(node, partition)),
      onHalted: (node, partition) =>
        court.examine(() =>
          demand(false, "halt", () => `${node.instance} halted: ${node.replica.at(partition).haltedWhy}`),
        ),
      onOutage: (outage) => this.judge.noteOutage(outage),
      onOwnershipEnded: ({ instance }, partition) => this.judge.noteOwnershipEnded(instance, partition),
      onSubmitted: (command) => answers.submitted(command),
      onAnswered: (node, partition, command, answer) => {
        if (answer.kind === "answered") court.examineAlways(() => this.#losses.expectSilent({ node, partition }));
        court.examine(() => answers.answered(partition, command, answer));
      },
    };
  }

  /** What a watcher of this name tells. */
  watcherListener(name: string): WatcherListener {
    const judge = new WatcherJudge(name, this.#changes, incarnationId);
    this.#watchers.set(name, judge);
    return {
      onOpened: (isResuming) => judge.reopened(isResuming),
      onResponse: (response) => this.court.examine(() => judge.received(response)),
      onRefused: (thrown) => this.court.noteCrash(thrown),
    };
  }

  /** What a replica of the election service decides. */
  choicesOf(node: ElectionNode): ChoiceListener {
    return {
      onElect: (lease, request) => this.court.examine(() => this.#coordination.elects(node, lease, request)),
      onMark: (lease, request) =>
        this.court.examine(() => {
          this.#coordination.marks(node, lease, request);
          this.#pace.marks(node, lease, request);
        }),
    };
  }

  /** Changes that watchers were told. */
  get watched(): number {
    return [...this.#watchers.values()].reduce((sum, { told }) => sum + told, 0);
  }

  /** A holder begins to act: by then the log has given it the term (I9). */
  onBegin(term: BelievedTerm): void {
    this.court.examine(() => {
      const { lease, process, token } = term;
      const isGranted = this.judge.hasGranted(lease, token, process.name);
      demand(isGranted, "I9", () => `${process.name} acts for ${lease} with token ${token}, which it was not granted`);
      this.terms.begin(term);
    });
  }

  /** A linearizable reading shows everything that was in the log when it was asked for (I16). */
  onRead(partition: number, lease: string, reading: LeaseReading, askedAt: bigint): void {
    this.court.examine(() => {
      const { sequence } = reading;
      const what = `a linearizable reading of ${lease} at ${sequence}`;
      demand(sequence >= askedAt, "I16", () => `${what} does not show ${askedAt}, which was there before it was asked`);
      this.#expectTrue(partition, lease, reading, what);
    });
  }

  /** A plain reading never goes back behind what its reader has seen (I16). */
  onPlainRead(partition: number, lease: string, reading: LeaseReading, revision: bigint): void {
    this.court.examine(() => {
      const what = `a plain reading of ${lease} at ${reading.sequence}`;
      const least = this.#logOf(partition).lastUpTo(revision);
      demand(reading.sequence >= least, "I16", () => `${what} is older than ${least}, which its reader has seen`);
      this.#expectTrue(partition, lease, reading, what);
    });
  }

  /** The log has lost its end: from now on only what must follow from that is judged. */
  onLost(nodes: Iterable<ReplicaNode>): void {
    this.court.adjourn();
    this.#losses.lost(nodes);
  }

  /** Whether every replica has come to the end of the log and has exactly what it says; so has its history (I17). */
  findDisagreement(nodes: Iterable<ReplicaNode>): Violation | undefined {
    if (this.#losses.hasLost) return this.#losses.find();
    try {
      this.#expectAgreement(nodes);
      return undefined;
    } catch (thrown) {
      return thrown instanceof Violation ? thrown : new Violation("state", String(thrown));
    }
  }

  #expectAgreement(nodes: Iterable<ReplicaNode>): void {
    for (const node of nodes) {
      for (const log of this.logs) {
        const replica = node.replica.at(log.partition);
        const where = `partition ${log.partition} at ${node.instance} (${replica.role})`;
        demand(replica.state.lastSequence === log.lastSequence, "I17", () => {
          return `${where} is at ${replica.state.lastSequence}, the log at ${log.lastSequence}`;
        });
        const isSame = isDeepStrictEqual(takeSnapshot(replica.state), takeSnapshot(log.state));
        demand(isSame, "state", () => `${where} has another state than its log`);
      }
    }
    for (const log of this.logs) this.#expectHistory(log);
    for (const watcher of this.#watchers.values()) demand(watcher.isUpToDate, "I17", () => watcher.describe());
  }

  /** What somebody has waited for since everything healed has moved (I26). */
  expectProgress(
    waits: Iterable<{ readonly leases: readonly string[]; readonly who: string; readonly sinceMs: number }>,
  ): void {
    const { nowMs } = this.#time;
    for (const { leases, sinceMs, who } of waits) {
      // One who waits for several may wait for any of them.
      const activeAtMs = Math.max(...leases.map((lease) => this.judge.activeAtMs(lease)));
      const quietMs = nowMs - Math.max(sinceMs, activeAtMs);
      const what = () => `${who} waits for ${leases.join(", ")} and nothing has happened for ${quietMs.toFixed(0)} ms`;
      demand(quietMs <= livenessBoundMs, "I26", what);
    }
  }

  /** Whoever should lead does, now that nothing has gone wrong for a while. */
  expectLed(leases: readonly string[]): void {
    for (const { state } of this.logs) {
      for (const lease of leases) this.leaders.expectLed(state.leases.get(lease), this.#time.nowMs);
    }
  }

  /** Who may hold a migration lock does, some time after everything healed. */
  expectRun(lease: string, participants: readonly Participant[], healedAtMs: number): void {
    const quietSinceMs = Math.max(healedAtMs, this.judge.activeAtMs(lease));
    this.migrations.expectRun(lease, participants, this.#time.nowMs - quietSinceMs);
  }

  #take(log: LogRecord, message: Parameters<LogRecord["take"]>[0]): void {
    const batch = log.take(message);
    this.judge.judge(batch, this.#time.nowMs);
    this.#coordination.judge(batch, log.state);
    for (const event of batch.events) {
      this.leaders.judge(event, this.#time.nowMs);
      this.#pace.judge(batch, event);
      this.migrations.judge(event);
    }
    for (const event of batch.events) {
      if (event.kind === "attemptRecorded") this.answers.recorded(event.client, event.number);
    }
  }

  #expectTrue(partition: number, lease: string, reading: LeaseReading, what: string): void {
    const { guarded, lastToken } = this.#logOf(partition).leaseAt(lease, reading.sequence) ?? {
      guarded: undefined,
      lastToken: 0n,
    };
    const isTrue = reading.lastToken === lastToken && reading.guarded === guarded;
    demand(isTrue, "I16", () => {
      return `${what} shows token ${reading.lastToken} and ${reading.guarded}, the log ${lastToken} and ${guarded}`;
    });
  }

  #expectHistory({ state }: LogRecord): void {
    for (const record of state.leases.values()) {
      const shown = record.history
        .filter(({ kind }) => kind === "granted" || kind === "ended")
        .map(({ cause = "", holder, kind, token }) => ({ kind, holder, token, cause }));
      const lines = this.judge.linesOf(record.key);
      const happened = record.isHistoryTruncated ? lines.slice(lines.length - shown.length) : lines;
      demand(isDeepStrictEqual(shown, happened), "history", () => `the history of ${record.key} is not what happened`);
    }
  }

  #logOf(partition: number): LogRecord {
    const log = this.logs[partition];
    if (log === undefined) throw new Error(`there is no partition ${partition}`);
    return log;
  }
}
