import { type MigrationAlarm, type MigrationParticipant, MigrationServiceReportRequest } from "@tenure/contracts";
import { isHopeless, type TenureError, toTenureError } from "../errors.ts";
import type { Session } from "../session/session.ts";
import type { ManagerEvent } from "./manager-event.ts";

/** Signs of life come so often. */
const beatMs = 2_000;
/** A service that does not answer within it is away. */
const answerMs = 5_000;
/** The service takes who is silent for so long as gone; so what it said itself counts no longer than that. */
const validityMs = 10_000;

/** What a participation asks its manager. */
export interface ParticipationPort {
  /** What the manager has and does at this moment. */
  describe(): MigrationParticipant;
  /** What it must not run; told at every change, and once when the service is found to be away. */
  judge(refused: ReadonlySet<string>): void;
  /** It can never take part as it is, and whoever does not take part does not run. */
  fail(error: TenureError): void;
  emit(event: ManagerEvent): void;
}

/**
 * A controller manager's part in migrations: it says what it has and does, at every change and as a sign of life, and
 * hears what it must not run. While the service is away what it said last stands for 10 s; after that the locks alone
 * decide, and each controller's own lease, which excludes a second run in any case.
 */
export class Participation implements AsyncDisposable {
  readonly #session: Session;
  readonly #port: ParticipationPort;
  readonly #over = new AbortController();
  readonly #reporting: Promise<void>;
  #wake = new AbortController();
  #refused: ReadonlyMap<string, string> = new Map();
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #alarms: ReadonlySet<string> = new Set();
  #standing: "unknown" | "joined" | "away" = "unknown";

  constructor(session: Session, port: ParticipationPort) {
    this.#session = session;
    this.#port = port;
    this.#reporting = this.#report();
  }

  /** Reports soon: something has changed. */
  refresh(): void {
    this.#wake.abort();
  }

  /** Leaves: nothing runs here any more. One that is not heard is taken as gone when its signs of life stop. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    this.#wake.abort();
    await this.#reporting;
    if (this.#standing !== "joined") return;
    await this.#call(true).catch(() => undefined);
  }

  async #report(): Promise<void> {
    const { clock } = this.#session;
    while (!this.#over.signal.aborted) {
      this.#wake = new AbortController();
      try {
        const { alarms, verdicts } = await this.#call(false);
        if (this.#standing !== "joined") this.#port.emit({ kind: "joined" });
        this.#standing = "joined";
        this.#heardAtMs = clock.now();
        this.#judge(new Map(verdicts.flatMap((one) => (one.refused ? [[one.controller, one.message]] : []))));
        this.#sound(alarms);
      } catch (thrown) {
        if (this.#over.signal.aborted) return;
        const error = toTenureError(thrown);
        // Another principal's participant of the same name is gone when its lease expires.
        if (isHopeless(error) && error.reason !== "PRINCIPAL_MISMATCH") return this.#port.fail(error);
        if (this.#standing !== "away") this.#port.emit({ kind: "join-failed", error });
        this.#standing = "away";
        this.#judge(clock.now() < this.#heardAtMs + validityMs ? this.#refused : new Map());
      }
      await clock.sleep(beatMs, this.#wake.signal).catch(() => undefined);
    }
  }

  #call(leaving: boolean) {
    const request = MigrationServiceReportRequest.fromPartial({ participant: this.#port.describe(), leaving });
    const signal = leaving ? undefined : this.#over.signal;
    return this.#session.call("MigrationService.Report", request, { timeoutMs: answerMs, signal });
  }

  #judge(refused: ReadonlyMap<string, string>): void {
    const before = this.#refused;
    this.#refused = refused;
    for (const [controller, message] of refused) {
      if (!before.has(controller)) this.#port.emit({ kind: "controller-refused", controller, message });
    }
    for (const controller of before.keys()) {
      if (!refused.has(controller)) this.#port.emit({ kind: "controller-allowed", controller });
    }
    this.#port.judge(new Set(refused.keys()));
  }

  /** Tells each alarm once, for as long as it goes on. */
  #sound(alarms: readonly MigrationAlarm[]): void {
    const named = new Map(alarms.map((alarm) => [`${alarm.kind} ${alarm.controller} ${alarm.message}`, alarm]));
    for (const [name, alarm] of named) if (!this.#alarms.has(name)) this.#port.emit({ kind: "alarm", alarm });
    this.#alarms = new Set(named.keys());
  }
}
