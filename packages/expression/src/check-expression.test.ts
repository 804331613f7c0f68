import { describe, expect, it } from "vitest";
import { checkExpression } from "./check-expression.ts";
import { celRankings } from "./ranking-expressions.ts";

const rankings = celRankings();
const strategy = (expression: string) => ({ kind: "expression", expression, vendor: "" }) as const;

describe("a strategy that comes in", () => {
  it("is taken when it has no expression, or one that compiles and gives a number", () => {
    expect(checkExpression(rankings, undefined, "f")).toBeUndefined();
    expect(checkExpression(rankings, { kind: "priority", expression: "", vendor: "" }, "f")).toBeUndefined();
    expect(checkExpression(rankings, strategy("candidate.priority"), "f")).toBeUndefined();
  });

  it("is refused with the field and every problem of its expression, shortened if it is long", () => {
    expect(checkExpression(rankings, strategy("candidate.name"), "spec.strategy.expression")).toMatchObject({
      code: "INVALID_ARGUMENT",
      reason: "EXPRESSION_INVALID",
      details: {
        violations: [
          {
            field: "spec.strategy.expression",
            rule: "must give an int or a double, and gives string",
            value: "candidate.name",
          },
        ],
        applied: "NO",
      },
    });
    const long = checkExpression(rankings, strategy(`'${"x".repeat(200)}'`), "f");
    expect(long?.details.violations?.[0]?.value).toHaveLength(81);
  });
});
