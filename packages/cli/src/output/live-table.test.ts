import { expect, it } from "vitest";
import { LiveTable } from "./live-table.ts";

const kind = { columns: [{ title: "NAME", text: (name: string) => name }], name: (name: string) => name };

function terminalOf(isTerminal: boolean) {
  const written: string[] = [];
  const terminal = {
    isTerminal,
    columns: 80,
    rows: 5,
    paint: (text: string) => text,
    print: (text: string) => void written.push(`${text}\n`),
    write: (text: string) => void written.push(text),
    note: () => undefined,
    confirm: async () => undefined,
  };
  return { terminal, written };
}

it("a terminal is drawn once for many changes, with as many rows as it has lines", () => {
  const { terminal, written } = terminalOf(true);
  const table = new LiveTable(kind, terminal, false);
  for (const item of ["e", "d", "c", "b", "a"]) table.show({ kind: "present", item });
  table[Symbol.dispose]();
  expect(written).toEqual(["\u001b[?7lNAME\na\nb\n... and 3 more\n\u001b[?7h"]);
  table.show({ kind: "removed", item: "a" });
  table.show({ kind: "removed", item: "b" });
  table[Symbol.dispose]();
  expect(written.slice(1)).toEqual(["\u001b[4A\u001b[0J\u001b[?7lNAME\nc\nd\ne\n\u001b[?7h"]);
});

it("a pipe gets a row for every change", () => {
  const { terminal, written } = terminalOf(false);
  using table = new LiveTable(kind, terminal, false);
  for (const change of ["present", "removed"] as const) table.show({ kind: change, item: "a" });
  expect(written).toEqual(["NAME\na\n", "a   (removed)\n"]);
});
