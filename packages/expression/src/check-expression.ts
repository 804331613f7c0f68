import type { RankingExpressions, Strategy } from "@tenure/core";
import { Fault } from "@tenure/kernel";

/** Of an expression, what a refusal shows. */
const mostShownCharacters = 80;

/** Why a strategy cannot be used: its expression does not compile or is not well typed. Undefined if it can. */
export function checkExpression(
  expressions: RankingExpressions,
  strategy: Strategy | undefined,
  field: string,
): Fault | undefined {
  if (strategy?.kind !== "expression") return undefined;
  const { expression } = strategy;
  const compilation = expressions.compile(expression);
  if (compilation.kind === "compiled") return undefined;
  const { problems } = compilation;
  const isLong = expression.length > mostShownCharacters;
  const value = isLong ? `${expression.slice(0, mostShownCharacters)}…` : expression;
  return new Fault({
    code: "INVALID_ARGUMENT",
    reason: "EXPRESSION_INVALID",
    message: `the ranking expression ${JSON.stringify(value)} does not compile: ${problems.join("; ")}`,
    details: { violations: problems.map((rule) => ({ field, rule, value })), applied: "NO" },
  });
}
