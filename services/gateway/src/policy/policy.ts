import type { Target, Verb } from "./rights.ts";

/** Who may do what, where. */
export interface Rule {
  /** Principals, exact or with `*` at the end. */
  readonly principals: readonly string[];
  /** Namespaces, or `*` for all. */
  readonly namespaces: readonly string[];
  /** Names in these namespaces, exact or with `*` at the end; absent is every name. */
  readonly names?: readonly string[] | undefined;
  readonly verbs: readonly Verb[];
}

/** What one principal may do. */
export interface Grants {
  allows(verb: Verb, target: Target): boolean;
}

/** Principals whose grants are kept made up; beyond it all are made up anew. */
const mostKept = 10_000;

/** Rules, none of which takes anything away: what no rule allows is denied. */
export class Policy {
  readonly #exact = new Map<string, Rule[]>();
  readonly #prefixes: { readonly prefix: string; readonly rule: Rule }[] = [];
  readonly #kept = new Map<string, Grants>();

  constructor(rules: readonly Rule[]) {
    for (const rule of rules) {
      for (const principal of rule.principals) {
        const prefix = prefixOf(principal);
        if (prefix !== undefined) this.#prefixes.push({ prefix, rule });
        else this.#exact.set(principal, [...(this.#exact.get(principal) ?? []), rule]);
      }
    }
  }

  /** What a principal may do. Rules of others are looked at once, and not for each call. */
  grantsOf(principal: string): Grants {
    const kept = this.#kept.get(principal);
    if (kept !== undefined) return kept;
    const byPrefix = this.#prefixes.filter(({ prefix }) => principal.startsWith(prefix)).map(({ rule }) => rule);
    const grants = new PrincipalGrants([...(this.#exact.get(principal) ?? []), ...byPrefix]);
    if (this.#kept.size >= mostKept) this.#kept.clear();
    this.#kept.set(principal, grants);
    return grants;
  }
}

/** The rules of one principal, by verb and namespace. */
class PrincipalGrants implements Grants {
  readonly #names = new Map<string, Names>();

  constructor(rules: readonly Rule[]) {
    for (const { names = ["*"], namespaces, verbs } of rules) {
      for (const verb of verbs) for (const namespace of namespaces) this.#of(verb, namespace).add(names);
    }
  }

  allows(verb: Verb, target: Target): boolean {
    if (this.#names.get(`${verb} *`)?.cover(target) === true) return true;
    // What names no namespace is about all of them, and only a rule for all of them can allow it.
    return target.namespace !== "" && this.#names.get(`${verb} ${target.namespace}`)?.cover(target) === true;
  }

  #of(verb: Verb, namespace: string): Names {
    const key = `${verb} ${namespace}`;
    const names = this.#names.get(key) ?? new Names();
    this.#names.set(key, names);
    return names;
  }
}

/** Names that are allowed in a namespace. */
class Names {
  readonly #exact = new Set<string>();
  readonly #prefixes: string[] = [];

  add(names: readonly string[]): void {
    for (const name of names) {
      const prefix = prefixOf(name);
      if (prefix === undefined) this.#exact.add(name);
      else this.#prefixes.push(prefix);
    }
  }

  /** A call about all names that begin with a text needs a rule for all of them. */
  cover({ isPrefix = false, name = "" }: Target): boolean {
    if (!isPrefix && name !== "" && this.#exact.has(name)) return true;
    return this.#prefixes.some((prefix) => name.startsWith(prefix));
  }
}

/** What a text with `*` at its end begins with; undefined for any other. */
function prefixOf(text: string): string | undefined {
  return text.endsWith("*") ? text.slice(0, -1) : undefined;
}
