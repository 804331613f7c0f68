import { systemClock } from "@tenure/kernel";
import type { Change, Kind } from "../records/kind.ts";
import { tableLines } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** A table that changes: redrawn in place on a terminal; elsewhere a row for every change, the titles once. */
export class LiveTable<Item> {
  readonly #kind: Pick<Kind<Item>, "columns" | "name">;
  readonly #terminal: Terminal;
  readonly #isWide: boolean;
  readonly #items = new Map<string, Item>();
  readonly #widths: number[] = [];
  #drawnLines = 0;
  #hasTitles = false;

  constructor(kind: Pick<Kind<Item>, "columns" | "name">, terminal: Terminal, isWide: boolean) {
    this.#kind = kind;
    this.#terminal = terminal;
    this.#isWide = isWide;
  }

  /** Shows one change. */
  show(change: Change<Item>): void {
    const name = this.#kind.name(change.item);
    if (change.kind === "removed") this.#items.delete(name);
    else this.#items.set(name, change.item);
    if (this.#terminal.isTerminal) this.#redraw();
    else this.#append(change);
  }

  #append({ item, kind }: Change<Item>): void {
    const layout = { isWide: this.#isWide, nowMs: systemClock.wall(), widths: this.#widths };
    const lines = tableLines(this.#kind.columns, [item], this.#terminal, { ...layout, hasTitles: !this.#hasTitles });
    this.#hasTitles = true;
    this.#terminal.print(`${lines.join("\n")}${kind === "removed" ? "   (removed)" : ""}`);
  }

  #redraw(): void {
    const items = [...this.#items].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, item]) => item);
    const layout = { isWide: this.#isWide, nowMs: systemClock.wall() };
    const lines = tableLines(this.#kind.columns, items, this.#terminal, layout);
    const up = this.#drawnLines === 0 ? "" : `\u001b[${this.#drawnLines}A\u001b[0J`;
    // Without wrapping a line is a line, however narrow the terminal is.
    this.#terminal.write(`${up}\u001b[?7l${lines.join("\n")}\n\u001b[?7h`);
    this.#drawnLines = lines.length;
  }
}
