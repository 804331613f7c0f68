import type { Colour, Terminal } from "./terminal.ts";

/** One column of a table. */
export interface Column<Item> {
  readonly title: string;
  /** Shown only in the wide form. */
  readonly wide?: boolean;
  /** The cell's text; `nowMs` is the wall clock, for ages. Empty is shown as a dash. */
  text(item: Item, nowMs: number): string;
  /** The cell's colour by its text. */
  colour?(text: string): Colour | undefined;
}

/** How a table is laid out. */
export interface TableLayout {
  readonly isWide: boolean;
  readonly nowMs: number;
  /** The least width of each column, so that rows which come later stay in line. */
  readonly widths?: number[];
  readonly hasTitles?: boolean;
}

const gap = "   ";

/** Rows with their titles, in columns. Cells are never cut: what is piped must be whole. */
export function tableLines<Item>(
  columns: readonly Column<Item>[],
  items: readonly Item[],
  terminal: Pick<Terminal, "paint">,
  layout: TableLayout,
): readonly string[] {
  const shown = columns.filter(({ wide = false }) => layout.isWide || !wide);
  const rows = items.map((item) => shown.map((column) => column.text(item, layout.nowMs) || "-"));
  const titles = shown.map(({ title }) => title);
  const widths = layout.widths ?? [];
  for (const row of [titles, ...rows]) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  const line = (cells: readonly string[], isTitle: boolean): string =>
    cells
      .map((cell, index) => {
        const padded = index === cells.length - 1 ? cell : cell.padEnd(widths[index] ?? 0);
        return terminal.paint(padded, isTitle ? "quiet" : shown[index]?.colour?.(cell));
      })
      .join(gap);
  const body = rows.map((row) => line(row, false));
  return layout.hasTitles === false ? body : [line(titles, true), ...body];
}

/** Names and values under each other, the empty ones left out; further lines of a value stand under its first. */
export function factLines(facts: readonly (readonly [name: string, value: string])[]): readonly string[] {
  const shown = facts.filter(([, value]) => value !== "");
  const width = Math.max(...shown.map(([name]) => name.length));
  const indent = " ".repeat(width + 3);
  return shown.flatMap(([name, value]) => {
    const [first = "", ...more] = value.split("\n");
    return [`${`${name}:`.padEnd(width + 1)}  ${first}`, ...more.map((line) => `${indent}${line}`)];
  });
}
