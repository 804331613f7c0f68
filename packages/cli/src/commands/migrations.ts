import {
  type DocumentFinding,
  type MigrationAlarm,
  type MigrationConfiguration,
  MigrationServiceApplyRequest,
  MigrationServiceDeleteRequest,
  MigrationServiceStatusResponse,
  MigrationServiceValidateRequest,
  MigrationServiceValidateResponse,
} from "@tenure/contracts";
import type { Tenure } from "@tenure/sdk";
import type { Command, Flag, Invocation } from "../command/command.ts";
import { CommandFailure, exitCodes } from "../exit-code.ts";
import { formatValue, isForPeople } from "../output/format.ts";
import { wireJson } from "../output/wire-json.ts";
import { firstLease } from "../records/lease-name.ts";
import { findMigration, migrationKind, migrationStatus, readMigration, statusLines } from "../records/migration.ts";
import { changeFlags, makeChange, mayGoOn, reasonOf, showPresent } from "./change.ts";
import { type DocumentText, documentsOf, fileFlag } from "./document-file.ts";
import { showAll } from "./view-commands.ts";

const knownFlag: Flag = {
  name: "known-controller",
  value: "NAME",
  multiple: true,
  summary: "a controller that exists; with any, a document that names another is refused",
};

/** `migrations validate|apply|status|delete`. */
export const migrationCommands: readonly Command[] = [
  {
    path: ["migrations", "status"],
    summary: "Say where each controller runs, what blocks the next step and how to roll back",
    positionals: [{ name: "NAME" }],
    examples: [["tenure migrations status cloud-provider-extraction-migration", "before and after every step"]],
    async run(invocation) {
      const { format, terminal } = invocation;
      const status = await migrationStatus(await invocation.connect(), invocation);
      const json = () => wireJson(MigrationServiceStatusResponse, status);
      if (isForPeople(format)) terminal.print(statusLines(status, terminal).join("\n"));
      else terminal.print(formatValue(json(), format === "name" ? "json" : format));
      return exitCodes.ok;
    },
  },
  {
    path: ["migrations", "validate"],
    summary: "Check migration documents against what is in force and who takes part",
    details: `Lists every finding with its line. Ends with 4 when a document cannot be applied. -o json, jsonl and yaml print
the service's answer, in which lines are counted from the document's own first, or a list for several.`,
    flags: [fileFlag, knownFlag],
    examples: [["tenure migrations validate -f migration.yaml", "every fault at once, none applied"]],
    async run(invocation) {
      const documents = documentsOf(invocation);
      const tenure = await invocation.connect();
      const results: MigrationServiceValidateResponse[] = [];
      for (const document of documents) {
        const result = await validate(tenure, document, invocation);
        if (isForPeople(invocation.format)) invocation.terminal.print(resultLines(document, result).join("\n"));
        results.push(result);
      }
      if (!isForPeople(invocation.format)) printResults(invocation, results);
      return results.every(({ valid }) => valid) ? exitCodes.ok : exitCodes.conflict;
    },
  },
  {
    path: ["migrations", "apply"],
    summary: "Put migration documents in force",
    flags: [
      fileFlag,
      knownFlag,
      { name: "coordinated", summary: "let candidates and a coordinator decide the lock instead of a race" },
      ...changeFlags,
    ],
    examples: [["tenure migrations apply -f migration.yaml --reason 'move to the cloud manager'", "checked first"]],
    run: (invocation) => applyMigrations(invocation, documentsOf(invocation)),
  },
  {
    path: ["migrations", "delete"],
    summary: "End a migration; its lock stays as it is until released",
    positionals: [{ name: "NAME" }],
    flags: changeFlags,
    examples: [["tenure migrations delete cloud-provider-extraction-migration", "when every node runs the new one"]],
    async run(invocation) {
      const tenure = await invocation.connect();
      const which = firstLease(invocation);
      const present = await readMigration(tenure, which);
      return await makeChange(invocation, {
        kind: migrationKind,
        present,
        what: `end the migration ${migrationKind.name(present)}`,
        async apply(dryRun) {
          const change = { ...which, expectedRevision: present.revision, dryRun, note: reasonOf(invocation) };
          const { configuration } = await tenure.session.change("MigrationService.Delete", (attempt) =>
            MigrationServiceDeleteRequest.fromPartial({ attempt, ...change }),
          );
          return configuration ?? present;
        },
      });
    },
  },
];

/** Validates all documents, shows what they replace, asks once, and applies them in order. */
export async function applyMigrations(invocation: Invocation, documents: readonly DocumentText[]): Promise<number> {
  const { settings, terminal, values } = invocation;
  const tenure = await invocation.connect();
  const checked = [];
  for (const document of documents) {
    const result = await validate(tenure, document, invocation);
    // Standard output is for what was applied.
    for (const line of resultLines(document, result)) terminal.note(line);
    checked.push(result);
  }
  if (!checked.every(({ valid }) => valid)) return exitCodes.conflict;
  const dryRun = values.has("dry-run");
  const documentNames = checked.map(({ configuration }) => configuration?.name ?? "");
  const names = documentNames.join(", ");
  const present = new Map<string, MigrationConfiguration>();
  for (const name of documentNames) {
    const found = await findMigration(tenure, { namespace: settings.namespace, name });
    if (found !== undefined) present.set(name, found);
  }
  showPresent(invocation, migrationKind.columns, [...present.values()]);
  if (!dryRun && !(await mayGoOn(invocation, `put ${names} in force`))) return exitCodes.error;
  const applied = [];
  for (const [index, { text }] of documents.entries()) {
    const name = documentNames[index] ?? "";
    const change = { document: text, namespace: settings.namespace, dryRun, note: reasonOf(invocation) };
    const common = {
      ...change,
      expectedRevision: present.get(name)?.revision ?? 0n,
      knownControllers: values.all("known-controller"),
      coordinated: values.has("coordinated"),
    };
    const { configuration } = await tenure.session.change("MigrationService.Apply", (attempt) =>
      MigrationServiceApplyRequest.fromPartial({ attempt, ...common }),
    );
    if (configuration === undefined)
      throw new CommandFailure(exitCodes.error, "the service answered without the record");
    if (!dryRun) present.set(name, configuration);
    applied.push(configuration);
  }
  terminal.note(dryRun ? `dry run: would put ${names} in force; nothing was changed` : `done: ${names} in force`);
  showAll(migrationKind, applied, invocation);
  return exitCodes.ok;
}

/** Asks the service about one document. */
async function validate(
  tenure: Tenure,
  document: DocumentText,
  { settings, values }: Invocation,
): Promise<MigrationServiceValidateResponse> {
  const request = MigrationServiceValidateRequest.fromPartial({
    document: document.text,
    namespace: settings.namespace,
    knownControllers: values.all("known-controller"),
  });
  return await tenure.session.call("MigrationService.Validate", request);
}

/** What was found, for people. */
function resultLines(document: DocumentText, result: MigrationServiceValidateResponse): readonly string[] {
  return [
    ...result.findings.map((finding) => findingText(document, finding)),
    ...result.alarms.map((alarm) => alarmText(document, alarm)),
    `${document.source}: ${result.valid ? "can be applied" : "cannot be applied"}`,
  ];
}

/** The answers as the API defines them: one alone is not a list. */
function printResults({ format, terminal }: Invocation, results: readonly MigrationServiceValidateResponse[]): void {
  const values = results.map((result) => wireJson(MigrationServiceValidateResponse, result));
  const machine = isForPeople(format) || format === "name" ? "json" : format;
  terminal.print(formatValue(values.length === 1 ? values[0] : values, machine));
}

function findingText(
  { firstLine, source }: DocumentText,
  { column, field, line, rule, value, warning }: DocumentFinding,
): string {
  const place = line === 0 ? source : `${source.split(":")[0]}:${line + firstLine - 1}:${column}`;
  const got = value === "" ? "" : ` (got ${value})`;
  return `${place}: ${warning ? "advice" : "error"}: ${field}${field === "" ? "" : " "}${rule}${got}`;
}

function alarmText({ source }: DocumentText, { message }: MigrationAlarm): string {
  return `${source}: alarm: ${message}`;
}
