import { Transition } from "@tenure/contracts";
import { systemClock } from "@tenure/kernel";
import type { Command, Invocation } from "../command/command.ts";
import { CommandFailure, exitCodes } from "../exit-code.ts";
import { formatValue, isForPeople } from "../output/format.ts";
import { type Column, tableLines } from "../output/table.ts";
import { timelineLines } from "../output/timeline.ts";
import { wireJson } from "../output/wire-json.ts";
import { firstLease } from "../records/lease-name.ts";
import { type PastTerm, termsOf } from "../records/term-history.ts";
import { leaseText, spanText } from "../records/words.ts";

const columns: readonly Column<PastTerm>[] = [
  { title: "HOLDER", text: ({ holder }) => holder },
  { title: "TOKEN", text: ({ token }) => String(token) },
  { title: "FROM", text: ({ fromMs }) => (fromMs === undefined ? "" : timeText(fromMs)) },
  { title: "HELD", text: ({ fromMs, heldMs }, nowMs) => spanText(heldMs ?? nowMs - (fromMs ?? nowMs)) },
  { title: "ENDED", text: ({ end }) => end || "holds", colour: (text) => (text === "holds" ? "good" : undefined) },
  { title: "WHY", text: ({ note }) => note },
  { title: "ORIGIN", wide: true, text: ({ origin }) => origin },
];

/** `history`: who led, when, how long, why it ended. */
export const historyCommand: Command = {
  path: ["history"],
  summary: "Show who led, when, for how long and why it ended, with a timeline",
  positionals: [{ name: "NAME" }],
  flags: [{ name: "limit", value: "N", summary: "at most so many terms, the newest (default 20)" }],
  examples: [
    ["tenure history billing/scheduler", "the last twenty terms, drawn over time"],
    ["tenure history billing/scheduler -o jsonl", "every line of history, strategies and marks included"],
  ],
  async run(invocation) {
    const tenure = await invocation.connect();
    const lease = firstLease(invocation);
    const lines: Transition[] = [];
    for await (const line of tenure.leases.history(lease)) lines.push(line);
    if (lines.length === 0) throw new CommandFailure(exitCodes.notFound, `${leaseText(lease)} has no history`);
    show(invocation, lines);
    return exitCodes.ok;
  },
};

function show({ format, terminal, values }: Invocation, lines: readonly Transition[]): void {
  if (!isForPeople(format)) {
    const value = lines.map((line) => wireJson(Transition, line));
    terminal.print(formatValue(value, format === "name" ? "jsonl" : format));
    return;
  }
  const terms = termsOf(lines).slice(0, values.integer("limit", 1, 10_000) ?? 20);
  const nowMs = systemClock.wall();
  const layout = { isWide: format === "wide", nowMs };
  const stretches = terms.flatMap(({ fromMs, holder, toMs }) =>
    fromMs === undefined ? [] : [{ lane: holder, fromMs, toMs: toMs ?? nowMs, isOpen: toMs === undefined }],
  );
  const drawing = timelineLines(stretches, terminal.columns);
  terminal.print([...tableLines(columns, terms, terminal, layout), "", ...drawing].join("\n"));
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")}Z`;
}
