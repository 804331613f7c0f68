import type { DecisionRecord, MigrationRecord } from "@tenure/core";
import { Decision } from "../../gen/tenure/v1/decision.ts";
import { MigrationConfiguration } from "../../gen/tenure/v1/migration_record.ts";
import { timeOf } from "./wall-time.ts";

/** A decision as it was recorded. The store keeps its bytes and never reads them. */
export function decisionToWire({ body }: DecisionRecord): Decision {
  return Decision.decode(body);
}

/** A migration configuration in force, with the log's revision and time. */
export function migrationToWire({ configuration, revision }: MigrationRecord): MigrationConfiguration {
  const stored = MigrationConfiguration.decode(configuration);
  return { ...stored, revision: revision.sequence, appliedAt: timeOf(revision) };
}
