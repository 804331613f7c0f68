import type { LeaseKey } from "@tenure/core";
import { lockOf, type MigrationConfiguration, tooManyLocks } from "./configuration.ts";
import type { ParsedDocument } from "./document.ts";
import { type Finding, sortFindings } from "./finding.ts";

/** What a document meets in the namespace of its lock. */
export interface DocumentContext {
  readonly namespace: string;
  readonly inForce: readonly { readonly configuration: MigrationConfiguration; readonly isHeld: boolean }[];
  /** The primary locks of those who take part. */
  readonly primaries: readonly LeaseKey[];
}

/** All findings about a document: its own, and those against what is in force. */
export function findingsInContext(parsed: ParsedDocument, context: DocumentContext): readonly Finding[] {
  const { configuration, findings, places } = parsed;
  if (configuration === undefined) return findings;
  const at = (field: string, rule: string, value: string, isWarning = false): Finding => {
    const { column, line } = places.get(field) ?? { line: 0, column: 0 };
    return { line, column, field, rule, value, isWarning };
  };
  const found: Finding[] = [];
  for (const { configuration: other, isHeld } of context.inForce) {
    if (other.name === configuration.name) {
      const changes = changesOf(other, configuration);
      if (!isHeld || changes === "") continue;
      found.push(at("controllerLeaders", "must keep its set of controllers while the lock is held", changes));
    } else {
      const taken = new Set(other.controllerLeaders.map(({ name }) => name));
      configuration.controllerLeaders.forEach(({ name }, index) => {
        if (!taken.has(name)) return;
        const rule = `must be under one lock: configuration ${other.name} has it`;
        found.push(at(`controllerLeaders[${index}].name`, rule, JSON.stringify(name)));
      });
    }
  }
  if (context.primaries.includes(lockOf(configuration, context.namespace))) {
    found.push(at("leaderName", "must not be the primary lock of a component", JSON.stringify(configuration.name)));
  }
  const others = context.inForce.filter(({ configuration: { name } }) => name !== configuration.name);
  const warning = tooManyLocks(others.length + 1);
  if (warning !== undefined) found.push(at("leaderName", warning, "", true));
  return sortFindings([...findings, ...found]);
}

/** Whether two configurations have the same controllers. */
export function hasSameControllers(left: MigrationConfiguration, right: MigrationConfiguration): boolean {
  return changesOf(left, right) === "";
}

function changesOf(before: MigrationConfiguration, after: MigrationConfiguration): string {
  const names = (one: MigrationConfiguration) => one.controllerLeaders.map(({ name }) => name);
  const added = names(after).filter((name) => !names(before).includes(name));
  const lost = names(before).filter((name) => !names(after).includes(name));
  const parts = [
    added.length === 0 ? "" : `adds ${added.join(", ")}`,
    lost.length === 0 ? "" : `lacks ${lost.join(", ")}`,
  ];
  return parts.filter((part) => part !== "").join(" and ");
}
