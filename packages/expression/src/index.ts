export { checkExpression } from "./check-expression.ts";
export { maximumNodes } from "./environment.ts";
export { celRankings } from "./ranking-expressions.ts";
