import type { ASTNode } from "@marcbachmann/cel-js";

/** Functions that may be called by their name. */
const functions: ReadonlySet<string> = new Set([
  "compareVersions",
  "double",
  "has",
  "int",
  "size",
  "string",
  "versionIn",
]);

/** Functions that may be called on a value. */
const methods: ReadonlySet<string> = new Set(["contains", "endsWith", "size", "startsWith"]);

/**
 * What an expression uses that is not offered. Left out are loops (`all`, `exists`, `map`, `filter`, `cel.bind`), so that
 * the cost is bounded by the length of the text; regular expressions, which can take for ever; `dyn`, which would take
 * an expression out of the type check; and times, which would move the leader by themselves.
 */
export function unofferedParts(node: ASTNode): readonly string[] {
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
      return unofferedParts(node.args[0]);
    case "!_":
    case "-_":
      return unofferedParts(node.args);
    case "list":
    case "?:":
      return node.args.flatMap(unofferedParts);
    case "map":
      return node.args.flatMap(([key, value]) => [...unofferedParts(key), ...unofferedParts(value)]);
    case "call": {
      const [name, operands] = node.args;
      return [...unoffered(functions, name, `${name}()`), ...operands.flatMap(unofferedParts)];
    }
    case "rcall": {
      const [name, receiver, operands] = node.args;
      return [...unoffered(methods, name, `.${name}()`), ...[receiver, ...operands].flatMap(unofferedParts)];
    }
    case ".?":
    case "[?]":
      return [`${node.op} is not offered to ranking expressions`];
    default:
      return node.args.flatMap(unofferedParts);
  }
}

function unoffered(offered: ReadonlySet<string>, name: string, shown: string): readonly string[] {
  return offered.has(name) ? [] : [`${shown} is not offered to ranking expressions`];
}
