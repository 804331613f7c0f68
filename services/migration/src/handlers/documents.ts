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
import { hasSameControllers, type MigrationConfiguration } from "@tenure/migration-rules";
import { configurationToWire, eligibilityOf } from "../record/configuration-record.ts";
import { findingToWire } from "../record/to-wire.ts";
import { alarmsWith, checkDocument, documentInvalid } from "./document-check.ts";
import {
  alarmsToWire,
  askingOf,
  catchUpMs,
  type MigrationContext,
  namespaceIn,
  reach,
  requireConfiguration,
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
  const before = inForceOn(context, namespace, configuration.name);
  const { revision } = await context.store.putMigration(
    {
      ...(attempt && { attempt }),
      ...(wire.lock && { lock: wire.lock }),
      ...(expectedRevision !== undefined && { expectedRevision }),
      configuration: wire,
      eligibility: eligibilityOf(configuration),
      ...(note && { note }),
      dryRun,
      // A grant since the check is seen by the owner of the lock.
      unlessHeld: before !== undefined && !hasSameControllers(before, configuration),
    },
    askingOf(scope),
  );
  const warnings = findings.map(findingToWire);
  if (dryRun) {
    const alarms = alarmsWith(context, namespace, configuration);
    return MigrationServiceApplyResponse.fromPartial({ configuration: wire, warnings, alarms });
  }
  await context.reader.hub.reach(revision, catchUpMs, scope.signal);
  const { stored } = requireConfiguration(context, { namespace, name: configuration.name });
  const alarms = alarmsToWire(context, namespace, context.directory.stateOf(namespace).alarms);
  return MigrationServiceApplyResponse.fromPartial({ configuration: stored.wire, warnings, alarms });
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

function inForceOn(
  { directory }: MigrationContext,
  namespace: string,
  name: string,
): MigrationConfiguration | undefined {
  const { inForce } = directory.stateOf(namespace).view;
  return inForce.find(({ configuration }) => configuration.name === name)?.configuration;
}
