import type { CommandOf } from "@tenure/core";
import { celRankings, checkExpression } from "@tenure/expression";
import { Fault } from "@tenure/kernel";

type CandidateCommand = CommandOf<"registerCandidate"> | CommandOf<"updateCandidate">;

const rankings = celRankings();

/** Refuses a candidate whose strategy has an expression that does not compile: it would rank everybody last. */
export function compiled<Request>(make: (request: Request, principal: string) => CandidateCommand | Fault) {
  return (request: Request, principal: string): CandidateCommand | Fault => {
    const command = make(request, principal);
    if (command instanceof Fault) return command;
    return checkExpression(rankings, command.spec.strategy, "spec.strategy.expression") ?? command;
  };
}
