import {
  Eligibility,
  hexOf,
  leaseKeyToWire,
  migrationToWire,
  MigrationConfiguration as WireConfiguration,
} from "@tenure/contracts";
import { type LeaseRecord, type MigrationRecord, namespaceOf } from "@tenure/core";
import {
  type ConfigurationInForce,
  digestOf,
  inForceOf,
  lockOf,
  type MigrationConfiguration,
} from "@tenure/migration-rules";

/** A configuration in force, as the API shows it and as the rules see it. */
export interface StoredConfiguration {
  readonly wire: WireConfiguration;
  readonly inForce: ConfigurationInForce;
}

const decoded = new WeakMap<MigrationRecord, StoredConfiguration>();

/** The configuration in force on a lock; undefined if there is none. */
export function storedConfiguration({ key, migration }: LeaseRecord): StoredConfiguration | undefined {
  if (migration === undefined) return undefined;
  const known = decoded.get(migration);
  if (known !== undefined) return known;
  const wire = migrationToWire(migration);
  const { apiVersion, controllerLeaders, digest, name, revision } = wire;
  const inForce = inForceOf({ name, apiVersion, controllerLeaders }, namespaceOf(key), hexOf(digest), revision);
  const stored = { wire, inForce };
  decoded.set(migration, stored);
  return stored;
}

/** A document's configuration on the wire, as it is put in force. */
export function configurationToWire(
  configuration: MigrationConfiguration,
  namespace: string,
  more: { readonly isCoordinated: boolean; readonly document: string },
): WireConfiguration {
  const { apiVersion, controllerLeaders, name } = configuration;
  return WireConfiguration.fromPartial({
    name,
    lock: leaseKeyToWire(lockOf(configuration, namespace)),
    apiVersion,
    resourceLock: "leases",
    controllerLeaders: [...controllerLeaders],
    digest: digestOf(configuration),
    coordinated: more.isCoordinated,
    document: more.document,
  });
}

/** Who may hold the lock of a configuration (rule 24). */
export function eligibilityOf(configuration: MigrationConfiguration): Eligibility {
  const components = new Map(
    configuration.controllerLeaders.map(({ component, versionRange }) => [
      JSON.stringify([component, versionRange]),
      { name: component, versionRange },
    ]),
  );
  return Eligibility.fromPartial({
    configuration: configuration.name,
    configurationDigest: digestOf(configuration),
    components: [...components.values()],
  });
}
