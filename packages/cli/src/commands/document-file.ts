import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import type { Flag, Invocation } from "../command/command.ts";
import { usageFailure } from "../exit-code.ts";

/** The flag that names files. */
export const fileFlag: Flag = {
  name: "file",
  short: "f",
  value: "FILE",
  multiple: true,
  summary: "required: a document, - for standard input; several documents are set apart by ---",
};

/** One document of a file. */
export interface DocumentText {
  /** The file and, if it has several, the place in it. */
  readonly source: string;
  /** As it was written. */
  readonly text: string;
  /** The line of the file on which it begins, from 1. */
  readonly firstLine: number;
}

/** The documents of all files that the flags name, in their order; at least one. Empty ones are left out. */
export function documentsOf({ values }: Invocation): readonly DocumentText[] {
  const files = values.all("file");
  if (files.length === 0) throw usageFailure("--file must be given");
  const documents = files.flatMap((file) => split(file, read(file)));
  if (documents.length === 0) throw usageFailure(`there is no document in ${files.join(", ")}`);
  return documents;
}

/** The plain value of a document; undefined when it is no YAML, about which its reader says more. */
export function documentValue({ text }: DocumentText): unknown {
  const [document] = parseAllDocuments(text);
  return document === undefined || !("toJS" in document) || document.errors.length > 0 ? undefined : document.toJS();
}

function read(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw usageFailure(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Cut at the lines that set documents apart, so that each keeps its own text and its readers' line numbers. */
function split(file: string, text: string): readonly DocumentText[] {
  const found: DocumentText[] = [];
  let lines: string[] = [];
  let firstLine = 1;
  const finish = (nextLine: number): void => {
    const body = lines.join("\n");
    if (body.replaceAll(/#.*$/gm, "").trim() !== "") found.push({ source: file, text: `${body}\n`, firstLine });
    lines = [];
    firstLine = nextLine;
  };
  for (const [index, line] of text.split("\n").entries()) {
    if (/^---(\s|$)/.test(line)) finish(index + 2);
    else lines.push(line);
  }
  finish(0);
  return found.length > 1 ? found.map((one) => ({ ...one, source: `${file}:${one.firstLine}` })) : found;
}
