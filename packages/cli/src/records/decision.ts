import { Answer, type Decision, DecisionOutcome, Exclusion, type RankedCandidate } from "@tenure/contracts";
import { type Column, tableLines } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { strategyText, word } from "./words.ts";

const columns: readonly Column<RankedCandidate>[] = [
  { title: "RANK", text: ({ rank }) => (rank === 0 ? "" : String(rank)) },
  {
    title: "CANDIDATE",
    text: ({ candidate, isHolder }) => `${candidate?.key?.name ?? ""}${isHolder ? " (holds)" : ""}`,
  },
  { title: "BINARY", text: ({ candidate }) => candidate?.spec?.binaryVersion ?? "" },
  { title: "COMPATIBILITY", text: ({ candidate }) => candidate?.spec?.compatibilityVersion ?? "" },
  { title: "ALIVE", text: ({ answer }) => word(Answer, answer) },
  {
    title: "EXCLUDED",
    text: ({ exclusion }) => word(Exclusion, exclusion),
    colour: (text) => (text === "-" ? undefined : "warn"),
  },
  { title: "WHY", text: ({ expressionError, reason }) => expressionError || reason },
];

/** What a decision says, in one sentence. */
export function outcomeText({ holder, outcome, reason, winner }: Decision): string {
  const who = winner === "" ? "" : ` ${winner}`;
  const held = holder === "" ? "nobody holds" : `${holder} holds`;
  return `${word(DecisionOutcome, outcome)}${who} (${held})${reason === "" ? "" : `: ${reason}`}`;
}

/** A decision with its ranked table. */
export function decisionLines(decision: Decision, terminal: Pick<Terminal, "paint">): readonly string[] {
  const rows = tableLines(columns, decision.ranking, terminal, { isWide: true, nowMs: 0 });
  const by = decision.decidedBy === "" ? "" : `, decided by ${decision.decidedBy}`;
  return [
    outcomeText(decision),
    `strategy ${strategyText(decision.strategy?.strategy) || "of the candidates"}${by}`,
    ...(decision.ranking.length === 0 ? ["there are no candidates"] : ["", ...rows]),
  ];
}
