import {
  type DoctorFinding,
  durationToMs,
  Severity,
  SystemServiceDoctorRequest,
  SystemServiceDoctorResponse,
  SystemServiceStatusRequest,
} from "@tenure/contracts";
import type { Command, Invocation } from "../command/command.ts";
import { exitCodes } from "../exit-code.ts";
import { formatValue, isForPeople } from "../output/format.ts";
import type { Colour, Terminal } from "../output/terminal.ts";
import { wireJson } from "../output/wire-json.ts";
import { statusFindings } from "../records/status-findings.ts";
import { word } from "../records/words.ts";

/** The check takes seconds, and a service that does not answer is waited for. */
const defaultTimeoutMs = 60_000;

const colours: Readonly<Record<number, Colour>> = {
  [Severity.OK]: "good",
  [Severity.ADVICE]: "quiet",
  [Severity.WARNING]: "warn",
  [Severity.UNSAFE]: "bad",
  [Severity.FATAL]: "bad",
};

/** `doctor`: may the deployment be trusted? */
export const doctorCommand: Command = {
  path: ["doctor"],
  summary: "Check the deployment: NATS settings, streams, services, versions, lag, clocks",
  details:
    "Shows what is wrong first, then what was checked and is well. Ends with 1 when a guarantee is gone (unsafe or fatal).",
  flags: [{ name: "skip-probe", summary: "skip the compare-and-set probe, which writes to a stream of its own" }],
  examples: [
    ["tenure doctor", "what is wrong, why it matters, what to do"],
    ["tenure doctor -o json", "for scripts"],
  ],
  async run(invocation) {
    const { settings, values } = invocation;
    const tenure = await invocation.connect();
    const request = SystemServiceDoctorRequest.fromPartial({ skipProbe: values.has("skip-probe") });
    const timeoutMs = settings.timeoutMs ?? defaultTimeoutMs;
    const [checked, status] = await Promise.all([
      tenure.session.call("SystemService.Doctor", request, { timeoutMs }),
      tenure.session.call("SystemService.Status", SystemServiceStatusRequest.fromPartial({}), { timeoutMs }),
    ]);
    const findings = [...checked.findings, ...statusFindings(status)].toSorted((a, b) => b.severity - a.severity);
    const report = { ...checked, findings, worst: findings[0]?.severity ?? Severity.OK };
    show(invocation, report);
    return report.worst >= Severity.UNSAFE ? exitCodes.error : exitCodes.ok;
  },
};

function show({ format, terminal }: Invocation, report: SystemServiceDoctorResponse): void {
  if (!isForPeople(format)) {
    terminal.print(formatValue(wireJson(SystemServiceDoctorResponse, report), format === "name" ? "json" : format));
    return;
  }
  const problems = report.findings.filter(({ severity }) => severity > Severity.OK);
  for (const finding of report.findings) terminal.print(findingText(finding, terminal));
  for (const instance of report.silentInstances)
    terminal.print(`no answer from ${instance}: what it would say is unknown`);
  const took = report.took === undefined ? "" : ` in ${(durationToMs(report.took) / 1_000).toFixed(1)} s`;
  const found = `${problems.length} problem${problems.length === 1 ? "" : "s"}`;
  const well = report.findings.length - problems.length;
  terminal.print(`${found}, ${well} checks well${took}; worst: ${word(Severity, report.worst)}`);
}

function findingText({ check, fix, severity, subject, what, why }: DoctorFinding, terminal: Terminal): string {
  const label = terminal.paint(word(Severity, severity).padEnd(7), colours[severity]);
  const rest = [why && `        why: ${why}`, fix && `        do:  ${fix}`].filter((line) => line !== "");
  return [`${label} ${check} ${subject}: ${what}`, ...rest].join("\n");
}
