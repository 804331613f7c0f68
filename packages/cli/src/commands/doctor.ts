import {
  type DoctorFinding,
  durationToMs,
  Severity,
  SystemServiceDoctorRequest,
  SystemServiceDoctorResponse,
} from "@tenure/contracts";
import type { Command, Invocation } from "../command/command.ts";
import { exitCodes } from "../exit-code.ts";
import { formatValue, isForPeople } from "../output/format.ts";
import type { Colour, Terminal } from "../output/terminal.ts";
import { wireJson } from "../output/wire-json.ts";
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
  summary: "Check the deployment: NATS settings, streams, versions, lag, clocks",
  details: "Ends with 1 when a guarantee is gone (unsafe or fatal).",
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
    const report = await tenure.session.call("SystemService.Doctor", request, { timeoutMs });
    show(invocation, report);
    return report.worst >= Severity.UNSAFE ? exitCodes.error : exitCodes.ok;
  },
};

function show({ format, terminal }: Invocation, report: SystemServiceDoctorResponse): void {
  if (!isForPeople(format)) {
    terminal.print(formatValue(wireJson(SystemServiceDoctorResponse, report), format === "name" ? "json" : format));
    return;
  }
  for (const finding of report.findings) terminal.print(findingText(finding, terminal));
  for (const instance of report.silentInstances)
    terminal.print(`no answer from ${instance}: what it would say is unknown`);
  const took = report.took === undefined ? "" : ` in ${(durationToMs(report.took) / 1_000).toFixed(1)} s`;
  terminal.print(`${report.findings.length} findings${took}, worst: ${word(Severity, report.worst) || "ok"}`);
}

function findingText({ check, fix, severity, subject, what, why }: DoctorFinding, terminal: Terminal): string {
  const label = terminal.paint(word(Severity, severity).padEnd(7), colours[severity]);
  const rest = [why && `        why: ${why}`, fix && `        do:  ${fix}`].filter((line) => line !== "");
  return [`${label} ${check} ${subject}: ${what}`, ...rest].join("\n");
}
