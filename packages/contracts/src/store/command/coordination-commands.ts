import { type CommandOf, checkStrategy } from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import type {
  StoreServiceCollectRequest,
  StoreServiceElectRequest,
  StoreServiceMarkEndOfTermRequest,
  StoreServicePingRequest,
  StoreServicePutMigrationRequest,
  StoreServicePutStrategyRequest,
  StoreServiceRecordDecisionRequest,
} from "../../gen/tenure/store/v1/store.ts";
import { Decision } from "../../gen/tenure/v1/decision.ts";
import { MigrationConfiguration } from "../../gen/tenure/v1/migration_record.ts";
import type { StrategySetting } from "../../gen/tenure/v1/strategy.ts";
import { Reading } from "../reading.ts";
import { eligibilityFromWire } from "../value/eligibility.ts";
import { strategySources, wordOf } from "../value/enums.ts";
import { strategyConflictFromWire, strategyFromWire } from "../value/strategy.ts";
import { periodFromWire } from "../value/time.ts";
import { addHeader, type Draft, requireCount } from "./header.ts";
import { requestCandidate, requestLease } from "./request-key.ts";

const mostPings = 1_000;
/** Of a decision's reason, what history shows; well below the bound of a note in bytes. */
const mostReasonCharacters = 128;

/** A coordinator's decision as a command carries it. */
interface CarriedDecision {
  readonly id: string;
  readonly body: Uint8Array;
}

function readDecision(reading: Reading, decision: Decision): CarriedDecision {
  if (decision.id === "") reading.reject("decision.id", "is required", "absent");
  return { id: decision.id, body: Decision.encode(decision).finish() };
}

/** StoreService.Ping as a command. */
export function pingCommand(request: StoreServicePingRequest, principal: string): CommandOf<"pingCandidates"> | Fault {
  const reading = new Reading();
  const { candidates, coordinator } = request;
  requireCount(reading, "candidates", candidates, 1, mostPings);
  const lease = requestLease(reading, "lease", request.lease);
  const command: Draft<CommandOf<"pingCandidates">> = {
    kind: "pingCandidates",
    lease,
    candidates,
    coordinator,
    principal,
  };
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

/** StoreService.Elect as a command. */
export function electCommand(request: StoreServiceElectRequest, principal: string): CommandOf<"elect"> | Fault {
  const reading = new Reading();
  const { acceptWindow, candidate, coordinator, decision, expectedRevision, strategy } = request;
  const command: Draft<CommandOf<"elect">> = {
    kind: "elect",
    lease: requestLease(reading, "lease", request.lease),
    expectedRevision,
    candidate,
    coordinator,
    principal,
  };
  if (decision !== undefined) command.decision = readDecision(reading, decision);
  if (strategy !== undefined) command.strategy = strategyFromWire(reading, "strategy.strategy", strategy.strategy);
  const acceptWindowMs = periodFromWire(reading, "accept_window", acceptWindow, undefined);
  if (acceptWindowMs !== undefined) command.acceptWindowMs = acceptWindowMs;
  // The whole sentence stands in the decision; history gets its beginning.
  const reason = (decision?.reason ?? "").slice(0, mostReasonCharacters);
  addHeader(reading, command, { attempt: request.attempt, note: { reason } });
  return reading.refusal() ?? command;
}

/** StoreService.MarkEndOfTerm as a command: without a mark it clears the one there is. */
export function markEndOfTermCommand(
  request: StoreServiceMarkEndOfTermRequest,
  principal: string,
): CommandOf<"markEndOfTerm"> | CommandOf<"clearEndOfTerm"> | Fault {
  const reading = new Reading();
  const { attempt, decision, endOfTerm, expectedRevision } = request;
  const lease = requestLease(reading, "lease", request.lease);
  if (endOfTerm === undefined) {
    const clear: Draft<CommandOf<"clearEndOfTerm">> = { kind: "clearEndOfTerm", lease, expectedRevision, principal };
    addHeader(reading, clear, request);
    return reading.refusal() ?? clear;
  }
  const { drainBound, preferredHolder, reason, token } = endOfTerm;
  const command: Draft<CommandOf<"markEndOfTerm">> = {
    kind: "markEndOfTerm",
    lease,
    expectedRevision,
    token,
    preferredHolder,
    principal,
  };
  const drainBoundMs = periodFromWire(reading, "end_of_term.drain_bound", drainBound, undefined);
  if (drainBoundMs !== undefined) command.drainBoundMs = drainBoundMs;
  const coolDownMs = periodFromWire(reading, "cool_down", request.coolDown, undefined);
  if (coolDownMs !== undefined) command.coolDownMs = coolDownMs;
  if (decision !== undefined) command.decision = readDecision(reading, decision);
  addHeader(reading, command, { attempt, note: request.note ?? { reason } });
  return reading.refusal() ?? command;
}

/** StoreService.PutStrategy as a command. */
export function putStrategyCommand(
  request: StoreServicePutStrategyRequest,
  principal: string,
): CommandOf<"putStrategy"> | Fault {
  const reading = new Reading();
  const { conflict, expectedRevision, strategy } = request;
  const command: Draft<CommandOf<"putStrategy">> = {
    kind: "putStrategy",
    lease: requestLease(reading, "lease", request.lease),
    expectedRevision,
    strategy: strategy && readSetting(reading, strategy),
    conflict: conflict && strategyConflictFromWire(reading, "conflict", conflict),
    principal,
  };
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

function readSetting(reading: Reading, setting: StrategySetting): NonNullable<CommandOf<"putStrategy">["strategy"]> {
  const strategy = strategyFromWire(reading, "strategy.strategy", setting.strategy);
  reading.rejectAll(checkStrategy(strategy, "strategy.strategy"));
  return { strategy, source: wordOf(reading, "strategy.source", strategySources, setting.source) };
}

/** StoreService.RecordDecision as a command. */
export function recordDecisionCommand(
  request: StoreServiceRecordDecisionRequest,
  principal: string,
): CommandOf<"recordDecision"> | Fault {
  const reading = new Reading();
  const { decision } = request;
  if (decision === undefined) reading.reject("decision", "is required", "absent");
  const { body, id } = readDecision(reading, decision ?? Decision.create({ id: "-" }));
  const lease = decision === undefined ? "/" : requestLease(reading, "decision.lease", decision.lease);
  const command: Draft<CommandOf<"recordDecision">> = { kind: "recordDecision", lease, id, body, principal };
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

/** StoreService.PutMigration as a command. Who applied it is the caller; revision and time are the log's. */
export function putMigrationCommand(
  request: StoreServicePutMigrationRequest,
  principal: string,
): CommandOf<"putMigration"> | Fault {
  const reading = new Reading();
  const { configuration, expectedRevision } = request;
  const command: Draft<CommandOf<"putMigration">> = {
    kind: "putMigration",
    lease: requestLease(reading, "lock", request.lock),
    expectedRevision,
    configuration: configuration && encodeConfiguration(configuration, principal),
    eligibility: eligibilityFromWire(request.eligibility),
    ...(request.unlessHeld && { isUnlessHeld: true }),
    principal,
  };
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

function encodeConfiguration(configuration: MigrationConfiguration, author: string): Uint8Array {
  return MigrationConfiguration.encode({ ...configuration, author, revision: 0n, appliedAt: undefined }).finish();
}

/** StoreService.Collect as a command. */
export function collectCommand(
  request: StoreServiceCollectRequest,
  principal: string,
): CommandOf<"collectLease"> | CommandOf<"collectCandidate"> | Fault {
  const reading = new Reading();
  const { dependent: isDependent, expectedRenewalRevision, expectedRevision, subject } = request;
  const graceMs = periodFromWire(reading, "grace", request.grace, 0);
  const judged = { expectedRevision, expectedRenewalRevision, graceMs, isDependent, principal };
  if (subject?.$case === "candidate") {
    const named = requestCandidate(reading, "candidate", subject.value);
    const command: Draft<CommandOf<"collectCandidate">> = { kind: "collectCandidate", ...named, ...judged };
    addHeader(reading, command, request);
    return reading.refusal() ?? command;
  }
  if (subject === undefined) reading.reject("subject", "must be a lease or a candidate", "neither");
  const lease = subject === undefined ? "/" : requestLease(reading, "lease", subject.value);
  const command: Draft<CommandOf<"collectLease">> = { kind: "collectLease", lease, ...judged };
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}
