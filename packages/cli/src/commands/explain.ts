import { Decision, ElectionServiceDryRunRequest, ElectionServiceExplainRequest, Hypothesis } from "@tenure/contracts";
import type { Command, Flag, Invocation } from "../command/command.ts";
import { strategyDetails } from "../command/strategy-words.ts";
import { exitCodes, usageFailure } from "../exit-code.ts";
import { formatValue, isForPeople } from "../output/format.ts";
import { wireJson } from "../output/wire-json.ts";
import { decisionLines } from "../records/decision.ts";
import { firstLease } from "../records/lease-name.ts";
import { strategyOf } from "./strategy.ts";

/** `explain`: why the leader leads. */
export const explainCommand: Command = {
  path: ["explain"],
  summary: "Say why the leader leads: every candidate with its rank and the reason",
  positionals: [{ name: "NAME" }],
  flags: [{ name: "decision", value: "ID", summary: "a recorded decision instead of the present state" }],
  examples: [
    ["tenure explain billing/scheduler", "rank the candidates as they are now"],
    ["tenure explain billing/scheduler --decision 4f2a", "one that history names"],
  ],
  async run(invocation) {
    const tenure = await invocation.connect();
    const decisionId = invocation.values.text("decision") ?? "";
    const request = ElectionServiceExplainRequest.fromPartial({ lease: firstLease(invocation), decisionId });
    const { decision, recordedDecisionIds } = await tenure.session.call("ElectionService.Explain", request);
    show(invocation, decision === undefined ? [] : [["", decision]]);
    const isRecorded = recordedDecisionIds.length > 0 && isForPeople(invocation.format);
    if (isRecorded) invocation.terminal.note(`recorded decisions: ${recordedDecisionIds.slice(0, 5).join(", ")}`);
    return exitCodes.ok;
  },
};

const assumptionFlags: readonly Flag[] = [
  { name: "gone", value: "CANDIDATE", multiple: true, summary: "it, and its term if it leads, is gone" },
  { name: "drained", value: "CANDIDATE", multiple: true, summary: "it is cordoned and, if it leads, finishes" },
  { name: "uncordoned", value: "CANDIDATE", multiple: true, summary: "it is not cordoned" },
  { name: "answers", value: "CANDIDATE", multiple: true, summary: "it answers pings" },
  { name: "silent", value: "CANDIDATE", multiple: true, summary: "it does not answer pings" },
  { name: "zone-gone", value: "ZONE", multiple: true, summary: "every candidate of this zone is gone" },
  { name: "holder-gone", summary: "the present holder's term ends" },
  { name: "strategy", value: "STRATEGY", summary: "the operator sets this strategy" },
  {
    name: "candidate",
    value: "NAME,KEY=VALUE,...",
    multiple: true,
    summary: "it exists with these values of binary, compatibility, zone, priority",
  },
];

/** `dry-run`: who would lead if. */
export const dryRunCommand: Command = {
  path: ["dry-run"],
  summary: "Say who would lead if something were so; changes nothing and asks nobody",
  details: strategyDetails,
  positionals: [{ name: "NAME" }],
  flags: assumptionFlags,
  examples: [
    ["tenure dry-run billing/scheduler --gone node-1", "if node-1 went away"],
    ["tenure dry-run billing/scheduler --candidate node-4,binary=1.22.0", "if node-4 came with 1.22.0"],
    ["tenure dry-run billing/scheduler --strategy NewestCompatibilityVersion", "if the newest were to lead"],
  ],
  async run(invocation) {
    const hypotheses = hypothesesOf(invocation);
    if (hypotheses.length === 0) throw usageFailure("nothing is assumed; see tenure dry-run --help");
    const tenure = await invocation.connect();
    const request = ElectionServiceDryRunRequest.fromPartial({ lease: firstLease(invocation), hypotheses });
    const { after, before, leaderChanges } = await tenure.session.call("ElectionService.DryRun", request);
    const both = [["as things are", before] as const, ["if that were so", after] as const];
    show(
      invocation,
      both.flatMap(([title, decision]) => (decision === undefined ? [] : [[title, decision] as const])),
    );
    if (isForPeople(invocation.format)) invocation.terminal.note(`the leader ${leaderChanges ? "changes" : "stays"}`);
    return exitCodes.ok;
  },
};

function show({ format, terminal }: Invocation, decisions: readonly (readonly [string, Decision])[]): void {
  if (!isForPeople(format)) {
    const values = decisions.map(([, decision]) => wireJson(Decision, decision));
    const value = values.length === 1 ? values[0] : { before: values[0], after: values[1] };
    terminal.print(formatValue(value, format === "name" ? "json" : format));
    return;
  }
  const blocks = decisions.map(([title, decision]) => [
    ...(title === "" ? [] : [`${title}:`]),
    ...decisionLines(decision, terminal),
  ]);
  terminal.print(blocks.map((lines) => lines.join("\n")).join("\n\n"));
}

function hypothesesOf({ values }: Invocation): readonly Hypothesis[] {
  const named = [
    ["gone", "candidateGone"],
    ["drained", "candidateDrained"],
    ["uncordoned", "candidateUncordoned"],
    ["answers", "candidateAnswers"],
    ["silent", "candidateSilent"],
    ["zone-gone", "zoneGone"],
  ] as const;
  const strategy = values.text("strategy");
  return [
    ...named.flatMap(([flag, $case]) => values.all(flag).map((value) => assume({ $case, value }))),
    ...(values.has("holder-gone") ? [assume({ $case: "holderGone", value: true })] : []),
    ...(strategy === undefined ? [] : [assume({ $case: "strategy", value: strategyOf(strategy, undefined) })]),
    ...values.all("candidate").map((text) => assume({ $case: "candidate", value: assumedCandidate(text) })),
  ];
}

function assume(assumption: NonNullable<Parameters<typeof Hypothesis.fromPartial>[0]["assumption"]>): Hypothesis {
  return Hypothesis.fromPartial({ assumption });
}

const assumedKeys: ReadonlySet<string> = new Set(["binary", "compatibility", "zone", "priority"]);

function assumedCandidate(text: string) {
  const [name = "", ...pairs] = text.split(",");
  const given = new Map(pairs.map((pair) => [pair.split("=")[0] ?? "", pair.slice(pair.indexOf("=") + 1)]));
  const unknown = [...given.keys()].find((key) => !assumedKeys.has(key));
  if (name === "" || unknown !== undefined) {
    throw usageFailure(`--candidate must be NAME,KEY=VALUE,... with ${[...assumedKeys].join(", ")} (got ${text})`);
  }
  const priority = given.get("priority");
  return {
    name,
    spec: {
      binaryVersion: given.get("binary") ?? "",
      compatibilityVersion: given.get("compatibility") ?? given.get("binary") ?? "",
      zone: given.get("zone") ?? "",
    },
    ...(priority === undefined ? {} : { priority: { value: Number(priority) } }),
  };
}
