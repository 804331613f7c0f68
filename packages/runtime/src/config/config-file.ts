import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { type Gathered, type Given, unknownName } from "./given.ts";
import type { Key } from "./key.ts";
import { type Problem, quote } from "./problem.ts";

/** Reads the text of a file, or throws; passed in so that loading stays pure. */
export type ReadFile = (path: string) => string;

/** Reads a flat mapping of keys in YAML, of which JSON is a part. Errors name the file, the line and the key. */
export function readConfigFile(path: string, readFile: ReadFile, keys: readonly Key[]): Gathered {
  let text: string;
  try {
    text = readFile(path);
  } catch (thrown) {
    return failed(`configuration file ${path}`, `cannot be read: ${whyUnreadable(thrown)}`);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const mistake = document.errors[0];
  if (mistake !== undefined) {
    return failed(`${path}:${lines.linePos(mistake.pos[0]).line}:`, `is not valid YAML or JSON: ${mistake.message}`);
  }
  if (document.contents === null) return { given: new Map(), problems: [] };
  if (!isMap(document.contents)) return failed(path, "must be a mapping of keys to values");
  const values = document.toJS() as Readonly<Record<string, unknown>>;
  const places = document.contents.items.map(({ key }) => {
    const offset = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
    return { name: String(key), line: lines.linePos(offset).line };
  });
  return gather(path, places, values, keys);
}

function gather(
  path: string,
  places: readonly { readonly name: string; readonly line: number }[],
  values: Readonly<Record<string, unknown>>,
  keys: readonly Key[],
): Gathered {
  const known = new Set(keys.map(({ key }) => key));
  const given = new Map<string, Given>();
  const problems: Problem[] = [];
  for (const { name, line } of places) {
    const where = `${path}:${line}: ${name}`;
    const raw = values[name];
    if (!known.has(name)) problems.push(unknownName(where, "key", name, known));
    else if (raw === null || raw === undefined) problems.push({ where, rule: "has no value", value: quote(null) });
    else given.set(name, { source: "file", where, raw });
  }
  return { given, problems };
}

function failed(where: string, rule: string): Gathered {
  return { given: new Map(), problems: [{ where, rule }] };
}

/** The system's word for why a file could not be read, without the stack and the repeated path. */
export function whyUnreadable(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "ENOENT") return "no such file";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "EISDIR") return "it is a folder";
  return thrown instanceof Error ? thrown.message : String(thrown);
}
