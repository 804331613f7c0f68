import {
  type LeaseCounts,
  type PartitionStatus,
  type ServiceGroup,
  Severity,
  SystemServiceStatusRequest,
  SystemServiceStatusResponse,
} from "@tenure/contracts";
import type { Command, Invocation } from "../command/command.ts";
import { exitCodes } from "../exit-code.ts";
import { formatValue, isForPeople } from "../output/format.ts";
import { type Column, tableLines } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { wireJson } from "../output/wire-json.ts";
import { instantText, word } from "../records/words.ts";

/** `status`: one screen. */
export const statusCommand: Command = {
  path: ["status"],
  summary: "Show the deployment on one screen: services, partitions, leases, alarms, versions",
  details: "Ends with 1 when the system as a whole does not serve.",
  examples: [
    ["tenure status", "what runs, what is ready, what is wrong"],
    ["tenure status -o json | jq .ready", "for scripts"],
  ],
  async run(invocation) {
    const { format, terminal } = invocation;
    const tenure = await invocation.connect();
    const status = await tenure.session.call("SystemService.Status", SystemServiceStatusRequest.fromPartial({}));
    if (isForPeople(format)) terminal.print(screen(status, invocation));
    else if (format === "name") terminal.print(status.incarnationId);
    else terminal.print(formatValue(wireJson(SystemServiceStatusResponse, status), format));
    return status.ready ? exitCodes.ok : exitCodes.error;
  },
};

/** More names of leaderless leases than this do not fit on a screen. */
const mostNames = 5;

const serviceColumns: readonly Column<ServiceGroup>[] = [
  { title: "SERVICE", text: ({ service }) => service },
  { title: "READY", text: readyText, colour: (text) => (text.startsWith("0/") ? "bad" : "good") },
  {
    title: "VERSION",
    text: ({ instances }) => [...new Set(instances.map(({ version }) => version))].toSorted().join(", "),
  },
  { title: "INSTANCES", wide: true, text: ({ instances }) => instances.map(({ instance }) => instance).join(", ") },
];

function readyText({ instances }: ServiceGroup): string {
  return `${instances.filter(({ ready }) => ready).length}/${instances.length}`;
}

function screen(status: SystemServiceStatusResponse, { format, settings, terminal }: Invocation): string {
  const layout = { isWide: format === "wide", nowMs: 0 };
  const word = status.ready ? terminal.paint("ready", "good") : terminal.paint("not ready", "bad");
  return [
    `Tenure ${status.version} at ${settings.endpoints.join(", ")} is ${word} (${status.mode})`,
    ...status.notReadyReasons.map((reason) => `  ${reason}`),
    "",
    ...tableLines(serviceColumns, status.services, terminal, layout),
    "",
    partitionLine(status.partitions),
    ...leaseLines(status.leases, terminal),
    ...alarmLines(status, terminal),
  ].join("\n");
}

function partitionLine(partitions: readonly PartitionStatus[]): string {
  const owned = partitions.filter(({ owner }) => owner !== "").length;
  const halted = partitions.filter((partition) => partition.halted).map(({ partition }) => partition);
  const lag = partitions.reduce((most, partition) => (partition.lag > most ? partition.lag : most), 0n);
  const problem = halted.length === 0 ? "" : `, halted: ${halted.join(", ")}`;
  return `partitions  ${owned} of ${partitions.length} owned, largest lag ${lag}${problem}`;
}

function leaseLines(counts: LeaseCounts | undefined, terminal: Terminal): readonly string[] {
  if (counts === undefined)
    return [terminal.paint("leases      unknown: the gateway is still reading the log", "warn")];
  const { candidates, ending, free, held, identities, leaderless, leaderlessNames, total } = counts;
  const some = leaderlessNames.slice(0, mostNames).join(", ");
  const names = leaderless > mostNames ? `${some}, ...` : some;
  return [
    `leases      ${total} in all, ${held} held${ending === 0n ? "" : ` (${ending} asked to end)`}, ${free} free`,
    `            ${candidates} candidates, ${identities} identities`,
    leaderless === 0n ? "leaderless  none" : terminal.paint(`leaderless  ${leaderless}: ${names}`, "bad"),
  ];
}

function alarmLines({ alarms }: SystemServiceStatusResponse, terminal: Terminal): readonly string[] {
  if (alarms.length === 0) return ["alarms      none"];
  return [
    terminal.paint(`alarms      ${alarms.length}`, "bad"),
    ...alarms.map(({ message, name, severity, since, subject }) => {
      const label = terminal.paint(word(Severity, severity), severity >= Severity.UNSAFE ? "bad" : "warn");
      return `  ${label} ${name} ${subject}: ${message}${since === undefined ? "" : ` (since ${instantText(since)})`}`;
    }),
  ];
}
