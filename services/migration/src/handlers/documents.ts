import type { CallContext } from "@tenure/bus";
import {
  leaseKeyToWire,
  type MigrationServiceApplyRequest,
  MigrationServiceApplyResponse,
  type MigrationServiceDeleteRequest,
  type MigrationServiceDeleteResponse,
  type MigrationServiceValidateRequest,
  MigrationServiceValidateResponse,
  ReadConsistency,
} from "@tenure/contracts";
import { type LeaseKey, leaseKey } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import {
  alarmsOf,
  type Finding,
  findingsInContext,
  findingText,
  hasSameControllers,
  inForceOf,
  type MigrationConfiguration,
  parseMigrationDocument,
} from "@tenure/migration-rules";
import { configurationToWire, eligibilityOf, eligibilityToWire } from "../record/configuration-record.ts";
import { findingToWire } from "../record/to-wire.ts";
import {
  alarmsToWire,
  askingOf,
  catchUpMs,
  type MigrationContext,
  namespaceIn,
  reach,
  requireConfiguration,
} from "./migration-context.ts";

type Asked = Pick<MigrationServiceValidateRequest, "document" | "knownControllers" | "aliases">;

/** What a check found: on its own, against what is in force, and with who takes part. */
interface Checked {
  readonly configuration: MigrationConfiguration | undefined;
  readonly findings: readonly Finding[];
  readonly isValid: boolean;
}

/** Checks a document and changes nothing. */
export async function validate(
  context: MigrationContext,
  request: MigrationServiceValidateRequest,
  scope: CallContext,
): Promise<MigrationServiceValidateResponse> {
  const namespace = namespaceIn(context, request.namespace);
  await reach(context, { consistency: ReadConsistency.LINEARIZABLE, minRevision: 0n }, scope);
  const { configuration, findings, isValid } = check(context, namespace, request);
  return MigrationServiceValidateResponse.fromPartial({
    findings: findings.map(findingToWire),
    valid: isValid,
    ...(configuration !== undefined && {
      configuration: configurationToWire(configuration, namespace, {
        isCoordinated: false,
        document: request.document,
      }),
      alarms: alarmsWith(context, namespace, configuration),
    }),
  });
}

/** Puts a document in force: who may hold the lock is from then on decided where its grants are. */
export async function apply(
  context: MigrationContext,
  request: MigrationServiceApplyRequest,
  scope: CallContext,
): Promise<MigrationServiceApplyResponse> {
  const { attempt, coordinated, document, dryRun, expectedRevision, note } = request;
  const namespace = namespaceIn(context, request.namespace);
  await reach(context, { consistency: ReadConsistency.LINEARIZABLE, minRevision: 0n }, scope);
  const { configuration, findings, isValid } = check(context, namespace, request);
  if (configuration === undefined || !isValid) throw documentInvalid(findings, configuration !== undefined);
  const lock = leaseKey(namespace, configuration.name);
  const before = inForceOn(context, namespace, lock);
  const { lock: lease, revision } = await context.store.putMigration(
    {
      ...(attempt && { attempt }),
      lock: leaseKeyToWire(lock),
      ...(expectedRevision !== undefined && { expectedRevision }),
      configuration: configurationToWire(configuration, namespace, { isCoordinated: coordinated, document }),
      eligibility: eligibilityToWire(eligibilityOf(configuration)),
      ...(note && { note }),
      dryRun,
      // A grant since the check is seen by the owner of the lock.
      unlessHeld: before !== undefined && !hasSameControllers(before, configuration),
    },
    askingOf(scope),
  );
  const wire = configurationToWire(configuration, namespace, { isCoordinated: coordinated, document });
  const warnings = findings.map(findingToWire);
  if (dryRun || lease === undefined) {
    return MigrationServiceApplyResponse.fromPartial({
      configuration: wire,
      warnings,
      alarms: alarmsWith(context, namespace, configuration),
    });
  }
  await context.reader.hub.reach(revision, catchUpMs, scope.signal);
  const stored = requireConfiguration(context, { namespace, name: configuration.name });
  const alarms = alarmsToWire(context, namespace, context.directory.stateOf(namespace).alarms);
  return MigrationServiceApplyResponse.fromPartial({ configuration: stored.stored.wire, warnings, alarms });
}

/** Ends a configuration: anyone may hold its lock from then on. A term that runs goes on. */
export async function remove(
  context: MigrationContext,
  request: MigrationServiceDeleteRequest,
  scope: CallContext,
): Promise<MigrationServiceDeleteResponse> {
  const { attempt, dryRun, expectedRevision, note } = request;
  await reach(context, { consistency: ReadConsistency.LINEARIZABLE, minRevision: 0n }, scope);
  const { record, stored } = requireConfiguration(context, request);
  const { revision } = await context.store.putMigration(
    {
      ...(attempt && { attempt }),
      lock: leaseKeyToWire(record.key),
      expectedRevision: expectedRevision ?? stored.inForce.revision,
      ...(note && { note }),
      dryRun,
    },
    askingOf(scope),
  );
  if (!dryRun) await context.reader.hub.reach(revision, catchUpMs, scope.signal);
  return { configuration: stored.wire };
}

function check(
  { directory }: MigrationContext,
  namespace: string,
  { aliases, document, knownControllers }: Asked,
): Checked {
  const parsed = parseMigrationDocument(document, { knownControllers, aliases });
  const { configurations, participants } = directory.stateOf(namespace);
  const findings = findingsInContext(parsed, {
    namespace,
    inForce: configurations.map(({ inForce }) => ({
      configuration: inForce.configuration,
      isHeld: isHeld(directory.recordOf(inForce.lock)),
    })),
    primaries: participants.map(({ participant }) => participant.primary),
  });
  return { configuration: parsed.configuration, findings, isValid: findings.every(({ isWarning }) => isWarning) };
}

function isHeld(record: ReturnType<MigrationContext["directory"]["recordOf"]>): boolean {
  return record !== undefined && (record.holds.length > 0 || record.pending !== undefined);
}

function inForceOn(
  { directory }: MigrationContext,
  namespace: string,
  lock: LeaseKey,
): MigrationConfiguration | undefined {
  return directory.stateOf(namespace).configurations.find(({ inForce }) => inForce.lock === lock)?.inForce
    .configuration;
}

/** What would be wrong with the present participants if a configuration were in force. */
function alarmsWith(context: MigrationContext, namespace: string, configuration: MigrationConfiguration) {
  const { view } = context.directory.stateOf(namespace);
  const digest = Buffer.from(
    configurationToWire(configuration, namespace, { isCoordinated: false, document: "" }).digest,
  );
  const proposed = inForceOf(configuration, namespace, digest.toString("hex"), context.reader.revision);
  const others = view.inForce.filter(({ lock }) => lock !== proposed.lock);
  return alarmsToWire(context, namespace, alarmsOf({ ...view, inForce: [...others, proposed] }));
}

/** The refusal of a document, with all that is wrong with it; IMMUTABLE if it is nothing but a changed set. */
function documentInvalid(findings: readonly Finding[], isReadable: boolean): Fault {
  const errors = findings.filter(({ isWarning }) => !isWarning);
  const isImmutable = isReadable && errors.every(({ field }) => field === "controllerLeaders");
  return new Fault({
    code: isImmutable ? "FAILED_PRECONDITION" : "INVALID_ARGUMENT",
    reason: isImmutable ? "IMMUTABLE" : "DOCUMENT_INVALID",
    message: errors.map(findingText).join("; "),
    details: {
      violations: errors.map(({ field, line, rule, value }) => ({ field, rule: `line ${line}: ${rule}`, value })),
      applied: "NO",
    },
  });
}
