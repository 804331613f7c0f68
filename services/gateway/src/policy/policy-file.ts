import { type Problem, quote } from "@tenure/runtime";
import {
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from "yaml";
import type { Rule } from "./policy.ts";
import { type Verb, verbs } from "./rights.ts";

/** What a document says, or everything that is wrong with it. */
export type ReadPolicy = { readonly rules: readonly Rule[] } | { readonly problems: readonly Problem[] };

/** A rule on the texts of a list, and how an error says it. */
interface ListRule {
  readonly isRequired: boolean;
  readonly expression: RegExp;
  readonly rule: string;
}

/** What a rule is made of. */
const lists: Readonly<Record<keyof Rule, ListRule>> = {
  principals: {
    isRequired: true,
    expression: /^(\*|spiffe:\/\/[A-Za-z0-9._/-]*\*?)$/,
    rule: "must be *, or begin with spiffe:// and have * at its end only",
  },
  namespaces: {
    isRequired: true,
    expression: /^(\*|[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$/,
    rule: "must be * or the whole name of a namespace",
  },
  names: {
    isRequired: false,
    expression: /^(?=.)[-._:a-zA-Z0-9]{0,253}\*?$/,
    rule: "must be a name of letters, digits and -._: with * at its end only",
  },
  verbs: { isRequired: true, expression: new RegExp(`^(${verbs.join("|")})$`), rule: `must be ${verbs.join(", ")}` },
};

/**
 * Reads a policy in YAML, of which JSON is a part: `rules`, and in each `principals`, `namespaces`, `names` and `verbs`.
 * What is not understood is refused and not ignored: a rule that says something else than it seems to is worse than none.
 */
export function readPolicyText(text: string, path: string): ReadPolicy {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (node: unknown) => lines.linePos(isNode(node) ? (node.range?.[0] ?? 0) : 0).line;
  const [mistake] = document.errors;
  if (mistake !== undefined) {
    const where = `${path}:${lines.linePos(mistake.pos[0]).line}:`;
    return { problems: [{ where, rule: `is not valid YAML or JSON: ${mistake.message}` }] };
  }
  const reader = new Reader((node) => `${path}:${at(node)}:`);
  const rules = reader.read(document.contents);
  return reader.problems.length === 0 ? { rules } : { problems: reader.problems };
}

class Reader {
  readonly problems: Problem[] = [];
  readonly #where: (node: unknown) => string;

  constructor(where: (node: unknown) => string) {
    this.#where = where;
  }

  read(contents: Node | null): readonly Rule[] {
    if (!isMap(contents)) return this.#refuse(contents, "the policy", "must be a mapping with the key rules", contents);
    this.#refuseUnknown(contents, "", ["rules"]);
    const rules = contents.get("rules", true);
    if (!isSeq(rules) || rules.items.length === 0) {
      return this.#refuse(rules ?? contents, "rules", "must be a list with at least one rule", rules);
    }
    return rules.items.flatMap((rule, place) => this.#rule(rule, `rules[${place}]`));
  }

  #rule(node: unknown, field: string): readonly Rule[] {
    if (!isMap(node)) return this.#refuse(node, field, "must be a mapping", node);
    this.#refuseUnknown(node, `${field}.`, Object.keys(lists));
    const list = (key: keyof Rule) => this.#list(node, key, `${field}.${key}`);
    const [principals, namespaces, names, verbs] = [
      list("principals"),
      list("namespaces"),
      list("names"),
      list("verbs"),
    ];
    if (principals === undefined || namespaces === undefined || verbs === undefined) return [];
    return [{ principals, namespaces, names, verbs: verbs as readonly Verb[] }];
  }

  #list(rule: YAMLMap, key: keyof Rule, field: string): readonly string[] | undefined {
    const { expression, isRequired, rule: wanted } = lists[key];
    const node = rule.get(key, true) as unknown;
    if (!rule.has(key) && !isRequired) return undefined;
    if (!isSeq(node) || node.items.length === 0) {
      this.#refuse(node ?? rule, field, "must be a list with at least one entry", node);
      return undefined;
    }
    return node.items.flatMap((item, place): readonly string[] => {
      const text = isScalar(item) ? item.value : undefined;
      if (typeof text === "string" && expression.test(text)) return [text];
      return this.#refuse(item, `${field}[${place}]`, wanted, item);
    });
  }

  #refuseUnknown(map: YAMLMap, prefix: string, known: readonly string[]): void {
    for (const { key } of map.items) {
      const name = isScalar(key) ? key.value : key;
      if (typeof name === "string" && known.includes(name)) continue;
      this.#refuse(key, `${prefix}${String(name)}`, `is no key of a policy; it has ${known.join(", ")}`);
    }
  }

  #refuse(node: unknown, field: string, rule: string, ...value: unknown[]): readonly never[] {
    const shown = value.length === 0 ? {} : { value: quote(plain(value[0])) };
    this.problems.push({ where: `${this.#where(node)} ${field}`, rule, ...shown });
    return [];
  }
}

/** A node as an error shows it. */
function plain(node: unknown): unknown {
  if (isScalar(node)) return node.value;
  if (isCollection(node)) return node.toJSON();
  return node ?? null;
}
