import { hexOf, type MigrationServiceValidateRequest } from "@tenure/contracts";
import type { LeaseRecord } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import {
  alarmsOf,
  digestOf,
  type Finding,
  findingsInContext,
  findingText,
  inForceOf,
  type MigrationConfiguration,
  parseMigrationDocument,
} from "@tenure/migration-rules";
import { alarmsToWire, type MigrationContext } from "./migration-context.ts";

type Asked = Pick<MigrationServiceValidateRequest, "document" | "knownControllers" | "aliases">;

/** What a check found: on its own, against what is in force, and with who takes part. */
export interface Checked {
  readonly configuration: MigrationConfiguration | undefined;
  readonly findings: readonly Finding[];
  readonly isValid: boolean;
}

/** Checks a document on its own and against what is in force and who takes part. */
export function checkDocument(
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

function isHeld(record: LeaseRecord | undefined): boolean {
  return record !== undefined && (record.holds.length > 0 || record.pending !== undefined);
}

/** What would be wrong with the present participants if a configuration were in force. */
export function alarmsWith(context: MigrationContext, namespace: string, configuration: MigrationConfiguration) {
  const { view } = context.directory.stateOf(namespace);
  const digest = hexOf(digestOf(configuration));
  const proposed = inForceOf(configuration, namespace, digest, context.reader.revision);
  const others = view.inForce.filter(({ lock }) => lock !== proposed.lock);
  return alarmsToWire(context, namespace, alarmsOf({ ...view, inForce: [...others, proposed] }));
}

/** The refusal of a document, with all that is wrong with it; IMMUTABLE if it is nothing but a changed set. */
export function documentInvalid(findings: readonly Finding[], isReadable: boolean): Fault {
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
