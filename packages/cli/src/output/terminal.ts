import { createInterface } from "node:readline/promises";

/** The colours that are used; each says one thing. */
export type Colour = "bad" | "good" | "quiet" | "warn";

const codes: Readonly<Record<Colour, string>> = { bad: "31", good: "32", quiet: "2", warn: "33" };

/** Where a command prints and whom it asks. */
export interface Terminal {
  /** Whether a person watches standard output. */
  readonly isTerminal: boolean;
  /** Characters that fit into a line. */
  readonly columns: number;
  /** Lines that fit on the screen. */
  readonly rows: number;
  /** The text in a colour, on a terminal that wants colours; as it is anywhere else. */
  paint(text: string, colour: Colour | undefined): string;
  /** Prints to standard output, with a line end. */
  print(text: string): void;
  /** Prints to standard output as it is. */
  write(text: string): void;
  /** Says something beside the result, on standard error. */
  note(text: string): void;
  /** Asks for a yes; undefined when nobody is there to answer. */
  confirm(question: string): Promise<boolean | undefined>;
}

/** The size of output that goes nowhere in particular. */
const defaultColumns = 100;
const defaultRows = 24;

/** The terminal of this process. */
export function processTerminal(environment: Readonly<Record<string, string | undefined>>): Terminal {
  const { stderr, stdin, stdout } = process;
  const isTerminal = stdout.isTTY === true;
  const hasColour = isTerminal && !environment.NO_COLOR && environment.TERM !== "dumb";
  return {
    isTerminal,
    // A window that is made larger or smaller counts at once.
    get columns() {
      return Number(environment.COLUMNS) || stdout.columns || defaultColumns;
    },
    get rows() {
      return Number(environment.LINES) || stdout.rows || defaultRows;
    },
    paint: (text, colour) => (hasColour && colour !== undefined ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text),
    print: (text) => void stdout.write(`${text}\n`),
    write: (text) => void stdout.write(text),
    note: (text) => void stderr.write(`${text}\n`),
    async confirm(question) {
      if (stdin.isTTY !== true) return undefined;
      const prompt = createInterface({ input: stdin, output: stderr });
      // Ctrl-C and Ctrl-D are a no; without a listener the question would wait for ever.
      const given = new AbortController();
      prompt.once("SIGINT", () => given.abort());
      prompt.once("close", () => given.abort());
      try {
        const answer = await prompt.question(`${question} [y/N] `, { signal: given.signal });
        return /^y(es)?$/i.test(answer.trim());
      } catch {
        stderr.write("\n");
        return false;
      } finally {
        prompt.close();
      }
    },
  };
}
