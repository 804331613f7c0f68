import { systemClock, type Timer } from "@tenure/kernel";
import type { Change, Kind } from "../records/kind.ts";
import { tableLines } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** A terminal is redrawn at most this often, however much changes, */
const redrawEveryMs = 100;
/** and this often without a change, because ages grow. */
const refreshEveryMs = 1_000;

/**
 * A table that changes: redrawn in place on a terminal, as much of it as fits; elsewhere a row for every change, the
 * titles once.
 */
export class LiveTable<Item> implements Disposable {
  readonly #kind: Pick<Kind<Item>, "columns" | "name">;
  readonly #terminal: Terminal;
  readonly #isWide: boolean;
  readonly #items = new Map<string, Item>();
  readonly #widths: number[] = [];
  #drawnLines = 0;
  #hasTitles = false;
  #isChanged = false;
  #redrawing: Timer | undefined;

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
    if (!this.#terminal.isTerminal) this.#append(change);
    else if (!this.#isChanged) {
      this.#isChanged = true;
      this.#redrawIn(redrawEveryMs);
    }
  }

  /** Shows what was not shown yet. */
  [Symbol.dispose](): void {
    if (this.#isChanged) this.#redraw();
    this.#redrawing?.cancel();
  }

  #redrawIn(delayMs: number): void {
    this.#redrawing?.cancel();
    this.#redrawing = systemClock.schedule(delayMs, () => this.#redraw());
  }

  #append({ item, kind }: Change<Item>): void {
    const layout = { isWide: this.#isWide, nowMs: systemClock.wall(), widths: this.#widths };
    const lines = tableLines(this.#kind.columns, [item], this.#terminal, { ...layout, hasTitles: !this.#hasTitles });
    this.#hasTitles = true;
    this.#terminal.print(`${lines.join("\n")}${kind === "removed" ? "   (removed)" : ""}`);
  }

  #redraw(): void {
    this.#isChanged = false;
    const items = [...this.#items].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, item]) => item);
    const layout = { isWide: this.#isWide, nowMs: systemClock.wall() };
    const lines = this.#cut(tableLines(this.#kind.columns, items, this.#terminal, layout));
    const up = this.#drawnLines === 0 ? "" : `\u001b[${this.#drawnLines}A\u001b[0J`;
    // Without wrapping a line is a line, however narrow the terminal is.
    this.#terminal.write(`${up}\u001b[?7l${lines.join("\n")}\n\u001b[?7h`);
    this.#drawnLines = lines.length;
    this.#redrawIn(refreshEveryMs);
  }

  /** The cursor cannot go back above the screen, so what does not fit is only counted. */
  #cut(lines: readonly string[]): readonly string[] {
    const most = Math.max(2, this.#terminal.rows - 1);
    if (lines.length <= most) return lines;
    return [...lines.slice(0, most - 1), `... and ${lines.length - most + 1} more`];
  }
}
