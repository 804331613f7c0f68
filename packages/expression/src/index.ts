export { maximumNodes } from "./environment.ts";
export { celRankings } from "./ranking-expressions.ts";
