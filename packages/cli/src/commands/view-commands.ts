import { systemClock } from "@tenure/kernel";
import type { Command, Flag, Invocation } from "../command/command.ts";
import { exitCodes } from "../exit-code.ts";
import { formatValue, isForPeople } from "../output/format.ts";
import { LiveTable } from "../output/live-table.ts";
import { tableLines } from "../output/table.ts";
import type { Kind } from "../records/kind.ts";

const watchFlag: Flag = { name: "watch", short: "w", summary: "then follow every change until stopped" };

/** `list`, `get` and `describe` of a kind of record. */
export function viewCommands<Item>(kind: Kind<Item>): readonly Command[] {
  const { noun, positionals, singular } = kind;
  const words = positionals.map(({ name }) => name).join(" ");
  const isFiltered = positionals[0]?.name === "LEASE";
  return [
    {
      path: [noun, "list"],
      summary: `List ${noun}`,
      positionals: isFiltered ? [{ name: "LEASE", optional: true }] : [],
      flags: [watchFlag],
      examples: [
        [`tenure ${noun}`, "the same: a noun alone lists"],
        [`tenure ${noun} list -w`, "follow them; a live table on a terminal"],
        [`tenure ${noun} list -o jsonl | jq .`, "one JSON document a line"],
      ],
      run: (invocation) => list(kind, invocation),
    },
    {
      path: [noun, "get"],
      summary: `Show one ${singular} as a row`,
      positionals,
      flags: [watchFlag],
      examples: [[`tenure ${noun} get ${words} -o yaml`, "the whole record"]],
      run: (invocation) => get(kind, invocation),
    },
    {
      path: [noun, "describe"],
      summary: `Say everything about one ${singular}`,
      positionals,
      examples: [[`tenure ${noun} describe ${words}`, "for people; scripts use get -o json"]],
      run: (invocation) => describe(kind, invocation),
    },
  ];
}

async function list<Item>(kind: Kind<Item>, invocation: Invocation): Promise<number> {
  const tenure = await invocation.connect();
  if (invocation.values.has("watch")) return await watch(kind, invocation);
  const items: Item[] = [];
  for await (const item of await kind.list(tenure, invocation)) items.push(item);
  showAll(kind, items, invocation);
  return exitCodes.ok;
}

async function get<Item>(kind: Kind<Item>, invocation: Invocation): Promise<number> {
  const tenure = await invocation.connect();
  const item = await kind.get(tenure, invocation);
  if (invocation.values.has("watch")) return await watch(kind, invocation, kind.name(item));
  showOne(kind, item, invocation);
  return exitCodes.ok;
}

async function describe<Item>(kind: Kind<Item>, invocation: Invocation): Promise<number> {
  const tenure = await invocation.connect();
  const item = await kind.get(tenure, invocation);
  if (!isForPeople(invocation.format)) showOne(kind, item, invocation);
  else invocation.terminal.print((await kind.describe(item, tenure, invocation)).join("\n"));
  return exitCodes.ok;
}

/** Rows as they change: redrawn in place on a terminal, one after the other anywhere else; those of one name if given. */
async function watch<Item>(kind: Kind<Item>, invocation: Invocation, only?: string): Promise<number> {
  const { format, terminal } = invocation;
  using table = new LiveTable(kind, terminal, format === "wide");
  for await (const change of kind.watch(await invocation.connect(), invocation)) {
    if (only !== undefined && kind.name(change.item) !== only) continue;
    if (isForPeople(format)) table.show(change);
    else if (format === "name") terminal.print(kind.name(change.item));
    else terminal.print(formatValue({ change: change.kind, record: kind.json(change.item) }, "jsonl"));
  }
  return exitCodes.ok;
}

/** One record in the format that was asked for. */
export function showOne<Item>(kind: Pick<Kind<Item>, "columns" | "json" | "name">, item: Item, invocation: Invocation) {
  const { format, terminal } = invocation;
  if (isForPeople(format) || format === "name") showAll(kind, [item], invocation);
  else terminal.print(formatValue(kind.json(item), format));
}

/** Records in the format that was asked for. */
export function showAll<Item>(
  kind: Pick<Kind<Item>, "columns" | "json" | "name"> & { readonly noun?: string },
  items: readonly Item[],
  { format, terminal }: Invocation,
): void {
  if (format === "name") {
    for (const item of items) terminal.print(kind.name(item));
  } else if (!isForPeople(format)) {
    if (format !== "jsonl" || items.length > 0) terminal.print(formatValue(items.map(kind.json), format));
  } else if (items.length === 0) terminal.note(`there are no ${kind.noun ?? "records"}`);
  else {
    const layout = { isWide: format === "wide", nowMs: systemClock.wall() };
    terminal.print(tableLines(kind.columns, items, terminal, layout).join("\n"));
  }
}
