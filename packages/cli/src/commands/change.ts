import { systemClock } from "@tenure/kernel";
import type { Flag, Invocation } from "../command/command.ts";
import { exitCodes, usageFailure } from "../exit-code.ts";
import { type Column, tableLines } from "../output/table.ts";
import type { Kind } from "../records/kind.ts";
import { showOne } from "./view-commands.ts";

/** The flags of a change of which no reason is kept. */
export const plainChangeFlags: readonly Flag[] = [
  { name: "yes", short: "y", summary: "do not ask" },
  { name: "dry-run", summary: "check everything and change nothing" },
];

/** The flags of a change with a reason; the summary says what becomes of it, which is not the same everywhere. */
export function changeFlagsWith(reasonSummary: string): readonly Flag[] {
  return [...plainChangeFlags, { name: "reason", value: "TEXT", summary: reasonSummary }];
}

/** The flags of a change that is a line of a lease's history. */
export const changeFlags = changeFlagsWith("why; kept in the lease's history");

/** The same where {@link requiredReason} is asked for. */
export const reasonedChangeFlags = changeFlagsWith("required: why; told to the holder and kept in the lease's history");

/** A change of one record. */
export interface Change<Item> {
  readonly kind: Pick<Kind<Item>, "columns" | "json" | "name">;
  /** The record that the user decides by. */
  readonly present: Item | undefined;
  /** What is about to happen, to follow "about to". */
  readonly what: string;
  /** Makes the change, or with `dryRun` only checks it; gives the record after it. */
  apply(dryRun: boolean): Promise<Item>;
}

/** Shows the present state, asks unless told not to, makes the change, shows the result. */
export async function makeChange<Item>(invocation: Invocation, change: Change<Item>): Promise<number> {
  const isDryRun = invocation.values.has("dry-run");
  showPresent(invocation, change.kind.columns, change.present === undefined ? [] : [change.present]);
  if (!isDryRun && !(await mayGoOn(invocation, change.what))) return exitCodes.error;
  const after = await change.apply(isDryRun);
  invocation.terminal.note(isDryRun ? `dry run: would ${change.what}; nothing was changed` : `done: ${change.what}`);
  showOne(change.kind, after, invocation);
  return exitCodes.ok;
}

/** Asks on the terminal unless told not to. Where nobody can be asked, only `--yes` will do. */
export async function mayGoOn({ terminal, values }: Invocation, what: string): Promise<boolean> {
  if (values.has("yes")) return true;
  const answer = await terminal.confirm(`About to ${what}. Go on?`);
  if (answer === undefined) throw usageFailure(`nobody can be asked here: add --yes to ${what}`);
  if (!answer) terminal.note("nothing was changed");
  return answer;
}

/** The note of a change, for those that need a reason. */
export function requiredReason({ values }: Invocation): { readonly reason: string } {
  const reason = values.text("reason") ?? "";
  if (reason === "") throw usageFailure("--reason must be given: it is told to those concerned");
  return { reason };
}

/** The note of a change that needs no reason. */
export function reasonOf({ values }: Invocation): { readonly reason: string } {
  return { reason: values.text("reason") ?? "" };
}

/** Shows what the user decides by on standard error, so that standard output has the result alone. */
export function showPresent<Item>(
  { format, terminal }: Invocation,
  columns: readonly Column<Item>[],
  present: readonly Item[],
): void {
  if (present.length === 0) return;
  const layout = { isWide: format === "wide", nowMs: systemClock.wall() };
  terminal.note(tableLines(columns, present, { paint: (text) => text }, layout).join("\n"));
}
