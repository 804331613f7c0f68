import { Transition } from "@tenure/contracts";
import { systemClock } from "@tenure/kernel";
import type { Tenure } from "@tenure/sdk";
import type { Command, Invocation } from "../command/command.ts";
import { CommandFailure, exitCodes } from "../exit-code.ts";
import { formatValue, isForPeople } from "../output/format.ts";
import { type Column, tableLines } from "../output/table.ts";
import { timelineLines } from "../output/timeline.ts";
import { wireJson } from "../output/wire-json.ts";
import { firstLease } from "../records/lease-name.ts";
import { linesOfNewest, type PastTerm, termsOf } from "../records/term-history.ts";
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
  details: `A lease keeps the newest 32 lines of its history. A plain term takes two, its begin and its end, so about
16 terms are shown; elections, marks and changes of settings take lines too.`,
  flags: [{ name: "limit", value: "N", summary: "at most so many terms, the newest; all that are kept unless given" }],
  examples: [
    ["tenure history billing/scheduler", "the terms that are kept, drawn over time"],
    ["tenure history billing/scheduler -o jsonl", "every line of history, strategies and marks included"],
  ],
  async run(invocation) {
    const most = invocation.values.integer("limit", 1, 10_000) ?? Number.POSITIVE_INFINITY;
    const lease = firstLease(invocation);
    const tenure = await invocation.connect();
    const { isTruncated, lines } = await readAll(tenure.leases.history(lease));
    if (lines.length === 0) throw new CommandFailure(exitCodes.notFound, `${leaseText(lease)} has no history`);
    const shown = linesOfNewest(lines, most);
    show(invocation, shown, most);
    // Whoever asked for fewer than there are misses nothing.
    if (isTruncated && shown.length === lines.length) invocation.terminal.note(truncationNote);
    return exitCodes.ok;
  },
};

const truncationNote = "older terms were dropped: a lease keeps the newest lines of its history only";

async function readAll(history: ReturnType<Tenure["leases"]["history"]>) {
  const lines: Transition[] = [];
  for (;;) {
    const step = await history.next();
    if (step.done === true) return { ...step.value, lines };
    lines.push(step.value);
  }
}

function show({ format, terminal }: Invocation, lines: readonly Transition[], most: number): void {
  if (!isForPeople(format)) {
    const value = lines.map((line) => wireJson(Transition, line));
    terminal.print(formatValue(value, format === "name" ? "jsonl" : format));
    return;
  }
  // Terms of a shared lease overlap: a line of an older one may stand between those of the newest.
  const terms = termsOf(lines).slice(0, most);
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
