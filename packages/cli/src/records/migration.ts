import {
  MigrationConfiguration,
  MigrationServiceGetRequest,
  MigrationServiceListRequest,
  MigrationServiceStatusRequest,
  type MigrationServiceStatusResponse,
  MigrationServiceWatchRequest,
  type MigrationStep,
} from "@tenure/contracts";
import { isTenureError, type Tenure } from "@tenure/sdk";
import type { Invocation } from "../command/command.ts";
import { CommandFailure, exitCodes } from "../exit-code.ts";
import { type Column, factLines, tableLines } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { wireJson } from "../output/wire-json.ts";
import { follow } from "./follow.ts";
import type { Kind } from "./kind.ts";
import { firstLease, selectorOf } from "./lease-name.ts";
import { pages } from "./pages.ts";
import { ageText, instantText, leaseText } from "./words.ts";

/** Migration configurations in force. */
export const migrationKind: Kind<MigrationConfiguration> = {
  noun: "migrations",
  singular: "migration",
  positionals: [{ name: "NAME" }],
  columns: [
    { title: "MIGRATION", text: ({ lock }) => leaseText(lock) },
    { title: "CONTROLLERS", text: ({ controllerLeaders }) => String(controllerLeaders.length) },
    { title: "COMPONENTS", text: componentsText },
    { title: "AGE", text: ({ appliedAt }, nowMs) => ageText(appliedAt, nowMs) },
    { title: "AUTHOR", wide: true, text: ({ author }) => author },
    { title: "COORDINATED", wide: true, text: ({ coordinated }) => (coordinated ? "yes" : "no") },
    { title: "REVISION", wide: true, text: ({ revision }) => String(revision) },
  ],
  name: ({ lock }) => leaseText(lock),
  json: (configuration) => wireJson(MigrationConfiguration, configuration),
  list: (tenure, invocation) =>
    pages(async (token) => {
      const request = MigrationServiceListRequest.fromPartial({ ...selectorOf(invocation), page: { token } });
      const { configurations, page } = await tenure.session.call("MigrationService.List", request);
      return { items: configurations, page };
    }),
  get: (tenure, invocation) => readMigration(tenure, firstLease(invocation)),
  describe: (configuration) => [
    ...factLines([
      ["Migration", leaseText(configuration.lock)],
      ["Applied", `${instantText(configuration.appliedAt)} by ${configuration.author}`],
      ["Decided by", configuration.coordinated ? "candidates and a coordinator" : "a race"],
      ["Digest", Buffer.from(configuration.digest).toString("hex").slice(0, 16)],
      ["Revision", String(configuration.revision)],
    ]),
    "",
    ...configuration.document.trimEnd().split("\n"),
  ],
  watch(tenure, invocation) {
    const { positionals, signal } = invocation;
    const which = positionals[0] === undefined ? selectorOf(invocation) : firstLease(invocation);
    const request = MigrationServiceWatchRequest.fromPartial(which);
    return follow(
      tenure,
      async function* () {
        for await (const { events, position } of tenure.session.stream("MigrationService.Watch", request, { signal })) {
          const changes = events.flatMap(({ kind, subject }) =>
            subject?.$case === "configuration" ? [{ kind, item: subject.value }] : [],
          );
          yield { events: changes, position };
        }
      },
      migrationKind.name,
      signal,
    );
  },
};

/** A configuration as it is now; undefined if there is none. */
export async function findMigration(
  tenure: Tenure,
  which: ReturnType<typeof firstLease>,
): Promise<MigrationConfiguration | undefined> {
  try {
    return await readMigration(tenure, which);
  } catch (error) {
    if (isTenureError(error) && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}

/** Reads a configuration as it is now. */
export async function readMigration(
  tenure: Tenure,
  which: ReturnType<typeof firstLease>,
): Promise<MigrationConfiguration> {
  const request = MigrationServiceGetRequest.fromPartial({ ...which, read: { consistency: 2 } });
  const { configuration } = await tenure.session.call("MigrationService.Get", request);
  if (configuration !== undefined) return configuration;
  throw new CommandFailure(exitCodes.notFound, `there is no migration ${leaseText(which)}`);
}

type ControllerStatus = MigrationServiceStatusResponse["controllers"][number];

const controllerColumns: readonly Column<ControllerStatus>[] = [
  { title: "CONTROLLER", text: ({ controller }) => controller },
  {
    title: "RUNS-IN",
    text: ({ running }) => running?.component ?? "",
    colour: (text) => (text === "-" ? "warn" : "good"),
  },
  { title: "INSTANCE", text: ({ running }) => running?.instance ?? "" },
  { title: "VERSION", text: ({ running }) => running?.version ?? "" },
  { title: "TOKEN", text: ({ running }) => (running === undefined ? "" : String(running.token)) },
  {
    title: "EXCLUSIVE",
    text: ({ exclusive }) => (exclusive ? "yes" : "NO"),
    colour: (text) => (text === "NO" ? "bad" : undefined),
  },
  { title: "ELIGIBLE", text: ({ eligibleComponents }) => eligibleComponents.join(", ") },
];

/** Asks where controllers run. */
export async function migrationStatus(tenure: Tenure, invocation: Invocation): Promise<MigrationServiceStatusResponse> {
  const request = MigrationServiceStatusRequest.fromPartial(firstLease(invocation));
  return await tenure.session.call("MigrationService.Status", request);
}

/** Where controllers run, what is wrong, what comes next. */
export function statusLines(status: MigrationServiceStatusResponse, terminal: Terminal): readonly string[] {
  const { alarms, controllers, lockHold, nextSteps, participants, rollbackSteps } = status;
  const layout = { isWide: true, nowMs: 0 };
  return [
    `lock ${leaseText(status.configuration?.lock)}: ${lockHold === undefined ? "nobody holds it" : `held by ${lockHold.holder}, token ${lockHold.token}`}; ${participants.length} take part`,
    "",
    ...tableLines(controllerColumns, controllers, terminal, layout),
    ...(alarms.length === 0 ? [] : ["", ...alarms.map(({ message }) => terminal.paint(`ALARM ${message}`, "bad"))]),
    ...stepLines("next", nextSteps),
    ...stepLines("to roll back", rollbackSteps),
  ];
}

function stepLines(title: string, steps: readonly MigrationStep[]): readonly string[] {
  if (steps.length === 0) return [];
  const lines = steps.flatMap(({ action, blockedBy }, index) => [
    `  ${index + 1}. ${action}`,
    ...blockedBy.map((why) => `     blocked: ${why}`),
  ]);
  return ["", `${title}:`, ...lines];
}

function componentsText({ controllerLeaders }: MigrationConfiguration): string {
  return [...new Set(controllerLeaders.map(({ component }) => component))].join(", ");
}
