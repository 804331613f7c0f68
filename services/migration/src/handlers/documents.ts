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
import { Fault } from "@tenure/kernel";
import { hasSameControllers } from "@tenure/migration-rules";
import { configurationToWire, eligibilityOf } from "../record/configuration-record.ts";
import { findingToWire } from "../record/to-wire.ts";
import { alarmsWith, checkDocument, documentInvalid } from "./document-check.ts";
import {
  alarmsToWire,
  askingOf,
  catchUpMs,
  configurationNotFound,
  configurationOf,
  lockIn,
  type MigrationContext,
  namespaceIn,
  reach,
} from "./migration-context.ts";

/** Checks a document and changes nothing. */
export async function validate(
  context: MigrationContext,
  request: MigrationServiceValidateRequest,
  scope: CallContext,
): Promise<MigrationServiceValidateResponse> {
  const namespace = namespaceIn(context, request.namespace);
  await reach(context, { consistency: ReadConsistency.LINEARIZABLE, minRevision: 0n }, scope);
  const { configuration, findings, isValid } = checkDocument(context, namespace, request);
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
  const { configuration, findings, isValid } = checkDocument(context, namespace, request);
  if (configuration === undefined || !isValid) throw documentInvalid(findings, configuration !== undefined);
  const wire = configurationToWire(configuration, namespace, { isCoordinated: coordinated, document });
  const before = configurationOf(context, { namespace, name: configuration.name })?.inForce;
  const { revision } = await context.store.putMigration(
    {
      ...(attempt && { attempt }),
      ...(wire.lock && { lock: wire.lock }),
      // What was judged is what is replaced: whoever was faster meanwhile makes this one conflict.
      expectedRevision: expectedRevision ?? before?.revision ?? 0n,
      configuration: wire,
      eligibility: eligibilityOf(configuration),
      ...(note && { note }),
      dryRun,
      // A grant since the check is seen by the owner of the lock.
      unlessHeld: before === undefined || !hasSameControllers(before.configuration, configuration),
    },
    askingOf(scope),
  );
  const warnings = findings.map(findingToWire);
  if (dryRun) {
    const alarms = alarmsWith(context, namespace, configuration);
    return MigrationServiceApplyResponse.fromPartial({ configuration: wire, warnings, alarms });
  }
  if (!(await isShown(context, revision, scope))) {
    return MigrationServiceApplyResponse.fromPartial({ configuration: { ...wire, revision }, warnings });
  }
  const stored = configurationOf(context, { namespace, name: configuration.name });
  return MigrationServiceApplyResponse.fromPartial({
    configuration: stored?.inForce.revision === revision ? stored.wire : { ...wire, revision },
    warnings,
    alarms: alarmsToWire(context, namespace, context.directory.stateOf(namespace).alarms),
  });
}

/** Ends a configuration: anyone may hold its lock from then on. A term that runs goes on. */
export async function remove(
  context: MigrationContext,
  request: MigrationServiceDeleteRequest,
  scope: CallContext,
): Promise<MigrationServiceDeleteResponse> {
  const { attempt, dryRun, expectedRevision, note } = request;
  await reach(context, { consistency: ReadConsistency.LINEARIZABLE, minRevision: 0n }, scope);
  const stored = configurationOf(context, request);
  if (stored === undefined && attempt === undefined) throw configurationNotFound(context, request);
  try {
    const { revision } = await context.store.putMigration(
      {
        ...(attempt && { attempt }),
        lock: leaseKeyToWire(lockIn(context, request)),
        // With nothing in force only an attempt that has succeeded before is answered: no revision is 1.
        expectedRevision: stored === undefined ? 1n : (expectedRevision ?? stored.inForce.revision),
        ...(note && { note }),
        dryRun,
      },
      askingOf(scope),
    );
    if (!dryRun) await isShown(context, revision, scope);
    return { configuration: stored?.wire };
  } catch (thrown) {
    if (stored !== undefined || !(thrown instanceof Fault) || thrown.reason !== "REVISION_CONFLICT") throw thrown;
    throw configurationNotFound(context, request);
  }
}

/** Whether this replica shows a change that was made; it was made also if not. */
function isShown({ reader }: MigrationContext, revision: bigint, scope: CallContext): Promise<boolean> {
  return reader.hub.reach(revision, catchUpMs, scope.signal).then(
    () => true,
    () => false,
  );
}
