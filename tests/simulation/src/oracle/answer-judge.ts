import { type Command, clientKey, type Reply } from "@tenure/core";
import type { Answer, Committed } from "../store/replica-node.ts";
import type { LogJudge } from "./log-judge.ts";
import type { LogRecord } from "./log-record.ts";
import { demand } from "./violation.ts";

interface Copies {
  submitted: number;
  /** Copies that were told that they were not applied. */
  denied: number;
}

/**
 * Compares every answer, when it leaves the replica, with the log: what is acknowledged is there, and what is said not to
 * have been applied is not and never will be (I13, I14).
 */
export class AnswerJudge {
  readonly #logs: readonly LogRecord[];
  readonly #judge: LogJudge;
  readonly #copies = new Map<string, Copies>();
  /** Answers that were compared. */
  acknowledged = 0;

  constructor(logs: readonly LogRecord[], judge: LogJudge) {
    this.#logs = logs;
    this.#judge = judge;
  }

  submitted(command: Command): void {
    const copies = this.#copiesOf(command);
    if (copies !== undefined) copies.submitted += 1;
  }

  answered(partition: number, command: Command, answer: Answer<Committed>): void {
    if (answer.kind === "answered") this.#expectInLog(partition, command, answer.value);
    else if (answer.applied === "NO") this.#deny(command);
  }

  /** A batch recorded an attempt: no caller may have been told otherwise. */
  recorded(client: string, number: bigint): void {
    const copies = this.#copies.get(`${client}#${number}`);
    if (copies !== undefined) this.#expectHonest(`${client}#${number}`, copies);
  }

  #deny(command: Command): void {
    const copies = this.#copiesOf(command);
    if (copies === undefined || command.attempt === undefined) return;
    copies.denied += 1;
    const client = clientKey(command.principal, command.attempt.clientId);
    const { number } = command.attempt;
    if (this.#judge.hasAttempt(client, number)) this.#expectHonest(`${client}#${number}`, copies);
  }

  #expectHonest(key: string, { denied, submitted }: Copies): void {
    const isHonest = denied < submitted;
    demand(isHonest, "I13", () => `attempt ${JSON.stringify(key)} is in the log, but all its callers were told NO`);
  }

  #copiesOf({ attempt, principal }: Command): Copies | undefined {
    if (attempt === undefined) return undefined;
    const key = `${clientKey(principal, attempt.clientId)}#${attempt.number}`;
    const copies = this.#copies.get(key) ?? { submitted: 0, denied: 0 };
    this.#copies.set(key, copies);
    return copies;
  }

  #expectInLog(partition: number, command: Command, { reply }: Committed): void {
    const position = "position" in reply ? reply.position : undefined;
    if (position === undefined) return;
    this.acknowledged += 1;
    const { sequence } = position;
    const events = this.#logs[partition]?.batchAt(sequence)?.events;
    const what = `the answer ${reply.kind} to ${command.kind} of ${command.principal} at ${sequence}`;
    demand(events !== undefined, "I14", () => `${what} is not in the log of partition ${partition}`);
    const isThere = events.some((event) => {
      if (reply.kind === "granted") return event.kind === "holdGranted" && grantsToken(reply, event.hold.token);
      if (reply.kind === "released") return event.kind === "holdEnded" && event.author === command.principal;
      if (reply.kind === "renewals") return isRenewal(event.kind);
      if (reply.kind === "guardedChanged") return event.kind === "guardChanged" && event.author === command.principal;
      return true;
    });
    demand(isThere, "I14", () => `${what} says what batch ${sequence} does not`);
  }
}

function grantsToken(reply: Extract<Reply, { kind: "granted" }>, token: bigint): boolean {
  return reply.grants.some((grant) => grant.token === token);
}

/** A term that the same batch granted is acknowledged without a second mention. */
function isRenewal(kind: string): boolean {
  return kind === "renewed" || kind === "holdGranted" || kind === "holdChanged";
}
