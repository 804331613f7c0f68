import type { CallContext } from "@tenure/bus";
import { type MigrationAlarm, ReadConsistency, type ReadOptions } from "@tenure/contracts";
import { checkLeaseKey, type LeaseKey, type LeaseRecord, leaseKey, namespaceOf } from "@tenure/core";
import { type Clock, Fault, invalid } from "@tenure/kernel";
import type { Alarm } from "@tenure/migration-rules";
import { type LogReader, type OpenWatches, replicaBehind } from "@tenure/reader";
import type { MigrationDirectory } from "../directory/migration-directory.ts";
import { type StoredConfiguration, storedConfiguration } from "../record/configuration-record.ts";
import { alarmToWire } from "../record/to-wire.ts";
import type { MigrationStore } from "../store/migration-store.ts";

/** What every call stands on. */
export interface MigrationContext {
  readonly clock: Clock;
  readonly reader: LogReader;
  readonly store: MigrationStore;
  readonly directory: MigrationDirectory;
  /** The namespace of callers that name none. */
  readonly namespace: string;
  readonly participantDurationMs: number;
  readonly mostWatchers: number;
  readonly watchers: OpenWatches;
}

/** How long a replica that is behind may take to catch up. */
export const catchUpMs = 2_000;

/** Who asks the store, and for how long. */
export function askingOf(scope: CallContext) {
  return { principal: scope.principal, deadlineMs: Math.max(1, scope.remainingMs()), signal: scope.signal };
}

/** Waits until this replica shows what a read asks for. */
export async function reach(
  { reader, store }: MigrationContext,
  read: Pick<ReadOptions, "consistency" | "minRevision"> | undefined,
  scope: CallContext,
): Promise<void> {
  const isLinearizable = read?.consistency === ReadConsistency.LINEARIZABLE;
  const fresh = isLinearizable ? await store.freshListRevision(askingOf(scope)) : 0n;
  const floor = read?.minRevision ?? 0n;
  // Who has just written something finds it, also if it does not say what it has seen.
  await reader.hurry();
  await reader.hub.reach(fresh > floor ? fresh : floor, catchUpMs, scope.signal);
  if (!reader.isReady) throw replicaBehind("the log is being read");
}

/** What names a configuration in a request. */
interface Naming {
  readonly namespace: string;
  readonly name: string;
}

/** The lock of a configuration that a request names; INVALID_ARGUMENT if it cannot be one. */
export function lockIn(context: MigrationContext, { name, namespace }: Naming): LeaseKey {
  const key = leaseKey(namespaceIn(context, namespace), name);
  const broken = checkLeaseKey(key, "lock");
  if (broken.length > 0) throw invalid(broken);
  return key;
}

/** The configuration in force that a request names; undefined if there is none. */
export function configurationOf(context: MigrationContext, naming: Naming): StoredConfiguration | undefined {
  const record = context.directory.recordOf(lockIn(context, naming));
  return record && storedConfiguration(record);
}

/** The configuration that a request names, with its lock's record. */
export function requireConfiguration(
  context: MigrationContext,
  naming: Naming,
): { readonly record: LeaseRecord; readonly stored: StoredConfiguration; readonly namespace: string } {
  const record = context.directory.recordOf(lockIn(context, naming));
  const stored = record && storedConfiguration(record);
  if (record !== undefined && stored !== undefined) return { record, stored, namespace: namespaceOf(record.key) };
  throw configurationNotFound(context, naming);
}

/** The refusal of a request that names a configuration which is not in force. */
export function configurationNotFound(context: MigrationContext, naming: Naming): Fault {
  const lease = lockIn(context, naming);
  return new Fault({
    code: "NOT_FOUND",
    reason: "CONFIGURATION_NOT_FOUND",
    message: `no migration configuration is in force on ${lease}`,
    details: { lease, revision: context.reader.revision, applied: "NO" },
  });
}

/** The namespace that a request means; INVALID_ARGUMENT if it is illegal. */
export function namespaceIn({ namespace }: MigrationContext, asked: string): string {
  const broken = asked === "" ? [] : checkLeaseKey(leaseKey(asked, "n"), "lock");
  if (broken.length > 0) throw invalid(broken.map((violation) => ({ ...violation, field: "namespace" })));
  return asked === "" ? namespace : asked;
}

/** Alarms of a namespace on the wire. */
export function alarmsToWire(
  { directory }: MigrationContext,
  namespace: string,
  alarms: readonly Alarm[],
): MigrationAlarm[] {
  const { participants } = directory.stateOf(namespace);
  const wireOf = (of: Alarm["participants"][number]) =>
    participants.find(({ participant }) => participant.instance === of.instance && participant.primary === of.primary)
      ?.wire;
  return alarms.map((alarm) => alarmToWire(alarm, wireOf, directory.alarmedSinceMs(namespace, alarm)));
}
