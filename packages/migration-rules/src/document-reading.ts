import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  type YAMLMap,
} from "yaml";
import type { Finding } from "./finding.ts";

/** A field of a map, with the positions of its key and its value. */
export interface Field {
  readonly path: string;
  readonly keyNode: Node | null;
  readonly node: Node | null;
}

/** A place in a document, both from 1; 0 is unknown. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** What was written, for display. */
const mostShown = 80;

/** One document being read: nodes with their positions, and everything that is wrong with them. */
export class DocumentReading {
  readonly findings: Finding[] = [];
  /** Where each field is, by its path. */
  readonly places = new Map<string, Place>();
  readonly #lines = new LineCounter();
  readonly #document: Document | undefined;

  constructor(text: string) {
    // Duplicate keys are found here, where their paths are known.
    const options = { lineCounter: this.#lines, prettyErrors: false, uniqueKeys: false, logLevel: "silent" } as const;
    const documents = parseAllDocuments(text, options);
    const all = Array.isArray(documents) ? documents : [];
    this.#document = all[0];
    const second = all[1];
    if (second !== undefined)
      this.#complain(second.range?.[0] ?? 0, "", "must be one document, without a second after ---");
    for (const { code, message, pos } of this.#document?.errors ?? []) {
      if (code !== "BAD_ALIAS" || !isBareStar(text, pos[0]))
        this.#complain(pos[0], "", `must be YAML or JSON: ${message}`);
    }
  }

  /** The document's top; null if there is none. */
  get top(): Node | null {
    return this.#document?.contents ?? null;
  }

  /** Notes a broken rule at a node; at the whole document without one. */
  reject(node: Node | null | undefined, field: string, rule: string, value = ""): void {
    this.#note(node?.range?.[0], field, rule, value, false);
  }

  /** Notes advice. */
  advise(node: Node | null | undefined, field: string, rule: string, value = ""): void {
    this.#note(node?.range?.[0], field, rule, value, true);
  }

  /** The line of a node. */
  lineOf(node: Node | null): number {
    return this.#position(node?.range?.[0]).line;
  }

  /** The fields of a map by name, without unknown ones and repeated ones, which are complained of. */
  fields(map: YAMLMap, path: string, known: readonly string[]): ReadonlyMap<string, Field> {
    const fields = new Map<string, Field>();
    for (const pair of map.items as readonly Pair<Node, Node | null>[]) {
      const key = isScalar(pair.key) ? String(pair.key.value) : "";
      const fieldPath = path === "" ? key : `${path}.${key}`;
      if (!known.includes(key)) this.reject(pair.key, fieldPath, `is not a field: known are ${known.join(", ")}`);
      else if (fields.has(key)) this.reject(pair.key, fieldPath, "is given twice");
      else {
        fields.set(key, { path: fieldPath, keyNode: pair.key, node: this.#resolve(pair.value) });
        this.places.set(fieldPath, this.#position((pair.value ?? pair.key).range?.[0]));
      }
    }
    return fields;
  }

  /** The text of a required field; undefined if it is missing, empty or no text, which is complained of. */
  text(field: Field | undefined, owner: Node | null, path: string): string | undefined {
    if (field === undefined) {
      this.reject(owner, path, "is required");
      return undefined;
    }
    const value = plainValue(field.node);
    if (typeof value === "string" && value !== "") return value;
    const isEmpty = value === "" || value === null;
    const rule = isEmpty
      ? "must not be empty"
      : isAlias(field.node)
        ? "must refer to an anchor of this document"
        : "must be a text";
    this.reject(field.node ?? field.keyNode, path, rule, isEmpty ? "" : shown(field.node));
    return undefined;
  }

  /** What an alias stands for; itself if there is no such anchor, or if it is a bare `*`. */
  #resolve(node: Node | null): Node | null {
    if (!isAlias(node) || node.source === "" || this.#document === undefined) return node;
    return node.resolve(this.#document) ?? node;
  }

  #complain(offset: number, field: string, rule: string): void {
    this.#note(offset, field, rule, "", false);
  }

  #note(offset: number | undefined, field: string, rule: string, value: string, isWarning: boolean): void {
    const { column, line } = this.#position(offset);
    const short = value.length > mostShown ? `${value.slice(0, mostShown)}…` : value;
    this.findings.push({ line, column, field, rule, value: short, isWarning });
  }

  #position(offset: number | undefined): Place {
    if (offset === undefined) return { line: 0, column: 0 };
    const { col, line } = this.#lines.linePos(offset);
    return { line, column: col };
  }
}

/** A node as a plain value; a bare `*`, which YAML forbids and the proposal's own sample writes, is the text `*`. */
export function plainValue(node: Node | null): unknown {
  if (isAlias(node) && node.source === "") return "*";
  return isScalar(node) ? node.value : isMap(node) ? {} : node === null ? null : [];
}

/** What was written at a node, for display. */
export function shown(node: Node | null): string {
  const value = plainValue(node);
  if (isAlias(node)) return `*${node.source}`;
  return typeof value === "object" && value !== null
    ? Array.isArray(value)
      ? "a list"
      : "a map"
    : JSON.stringify(value);
}

/** Whether the alias at a place is a lone star, not the name of an anchor. */
function isBareStar(text: string, offset: number): boolean {
  return text[offset] === "*" && /^[\s,}\]]?$/.test(text[offset + 1] ?? "");
}
