import { systemClock, type Timer } from "@tenure/kernel";
import type { Terminal } from "../output/terminal.ts";

/** What a lane shows at an instant. */
export interface LaneState {
  readonly name: string;
  /** What stands behind the name, such as a version; empty when it does not run. */
  readonly note: string;
  readonly state: "absent" | "leads" | "waits";
}

/** One column of the timeline is this long: the whole story fits into 80 columns. */
const columnMs = 1_000;

const marks = { absent: " ", leads: "█", waits: "·" } as const;

/** Draws lanes as time goes by, with what happens told above them; on a pipe only what happens. */
export class Stage implements Disposable {
  readonly #terminal: Terminal;
  readonly #lanes: () => readonly LaneState[];
  readonly #columns = new Map<string, string>();
  readonly #beganMs = systemClock.now();
  #timer: Timer | undefined;
  #drawnLines = 0;
  #isClosed = false;
  #ticks = 0;

  constructor(terminal: Terminal, lanes: () => readonly LaneState[]) {
    this.#terminal = terminal;
    this.#lanes = lanes;
    if (terminal.isTerminal) this.#tick();
  }

  /** Opens an act. */
  open(title: string): void {
    this.#print(`\n${this.#terminal.paint(`── ${title} `, "good")}`);
  }

  /** Tells what happens, once and for good; nothing any more when the stage is closed. */
  tell(text: string): void {
    const seconds = ((systemClock.now() - this.#beganMs) / 1_000).toFixed(1).padStart(5);
    this.#print(`${this.#terminal.paint(`${seconds} s`, "quiet")}  ${text}`);
  }

  #print(text: string): void {
    if (this.#isClosed) return;
    this.#erase();
    this.#terminal.print(text);
    if (this.#terminal.isTerminal) this.#draw();
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #tick(): void {
    for (const { name, state } of this.#lanes()) {
      // A lane that comes later begins below the present, not below the beginning.
      const before = (this.#columns.get(name) ?? "").padStart(this.#ticks);
      this.#columns.set(name, before + marks[state]);
    }
    this.#ticks += 1;
    this.#erase();
    this.#draw();
    this.#timer = systemClock.schedule(columnMs, () => this.#tick());
  }

  #erase(): void {
    if (this.#drawnLines > 0) this.#terminal.write(`\u001b[${this.#drawnLines}A\u001b[0J`);
    this.#drawnLines = 0;
  }

  #draw(): void {
    const lanes = this.#lanes();
    const label = Math.max(...lanes.map(({ name, note }) => name.length + note.length + 1));
    const width = Math.max(20, this.#terminal.columns - label - 4);
    const lines = lanes.map(({ name, note, state }) => {
      const text = `${name} ${note}`.padEnd(label);
      const drawn = (this.#columns.get(name) ?? "")
        .slice(-width)
        .replaceAll(/█+/g, (led) => this.#terminal.paint(led, "good"));
      return `  ${this.#terminal.paint(text, state === "leads" ? "good" : "quiet")}  ${drawn}`;
    });
    const legend = this.#terminal.paint(`  ${"".padEnd(label)}  ${marks.leads} leads   ${marks.waits} waits`, "quiet");
    this.#terminal.write(`\n${[...lines, legend].join("\n")}\n`);
    this.#drawnLines = lines.length + 2;
  }
}
