import type { Readable } from "node:stream";

/** Lines beyond these are forgotten, the oldest first. */
const mostLines = 20_000;

/** What a process printed, both streams in order of arrival, line by line, without the line ends. */
export class OutputLines {
  readonly #lines: string[] = [];
  readonly #listeners = new Set<(line: string) => void>();

  /** The lines so far. */
  get all(): readonly string[] {
    return this.#lines;
  }

  /** The last lines as one text, for failure messages. */
  tail(count = 20): string {
    return this.#lines.slice(-count).join("\n");
  }

  /** Calls for each line from now on, until the returned function is called. */
  onLine(listener: (line: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Takes lines from a stream; a last line without an end counts when the stream ends. */
  take(stream: Readable): void {
    let rest = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      const lines = (rest + chunk).split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) this.#add(line);
    });
    stream.on("end", () => {
      if (rest !== "") this.#add(rest);
    });
  }

  #add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > mostLines) this.#lines.shift();
    for (const listener of [...this.#listeners]) listener(line);
  }
}
