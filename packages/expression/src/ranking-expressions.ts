import {
  type Environment,
  EvaluationError,
  ParseError,
  type ParseResult,
  TypeError as TypeMismatch,
} from "@marcbachmann/cel-js";
import {
  byteLength,
  type CompiledRanking,
  maximumExpressionBytes,
  type RankingCandidate,
  type RankingCompilation,
  type RankingExpressions,
  type RankingInput,
  type RankingResult,
} from "@tenure/core";
import { rankingEnvironment } from "./environment.ts";
import { unofferedParts } from "./subset.ts";

/** Compiled expressions that are kept. A deployment has a handful; more are compiled again when they are met. */
const mostKept = 256;

/** Ranking expressions in CEL. What is compiled is kept, so that a coordinator may ask at every look. */
export function celRankings(): RankingExpressions {
  const environment = rankingEnvironment();
  const kept = new Map<string, RankingCompilation>();
  return {
    compile(text) {
      const known = kept.get(text);
      if (known !== undefined) return known;
      const compilation = compileRanking(environment, text);
      if (kept.size >= mostKept) kept.delete(kept.keys().next().value ?? "");
      kept.set(text, compilation);
      return compilation;
    },
  };
}

function compileRanking(environment: Environment, text: string): RankingCompilation {
  const size = byteLength(text);
  if (size > maximumExpressionBytes) {
    return { kind: "refused", problems: [`must have at most ${maximumExpressionBytes} bytes, and has ${size}`] };
  }
  try {
    const program = environment.parse(text);
    const problems = [...new Set([...unofferedParts(program.ast), ...typeProblems(program)])];
    return problems.length > 0 ? { kind: "refused", problems } : { kind: "compiled", ranking: rankingOf(program) };
  } catch (error) {
    return { kind: "refused", problems: [describe(error)] };
  }
}

function typeProblems(program: ParseResult): readonly string[] {
  const { error, type, valid } = program.check();
  if (!valid) return [describe(error)];
  return type === "int" || type === "double" ? [] : [`must give an int or a double, and gives ${type}`];
}

function rankingOf(program: ParseResult): CompiledRanking {
  return {
    rank(input) {
      try {
        return resultOf(program(bindings(input)));
      } catch (error) {
        return { kind: "error", message: describe(error) };
      }
    },
  };
}

function resultOf(result: unknown): RankingResult {
  const value = Number(result);
  const isExact = typeof result === "bigint" ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (isExact) return { kind: "value", value };
  return { kind: "error", message: `the result is ${String(result)}, and must be finite and below 2^53` };
}

/** The input as CEL's own types: maps that have no inherited keys, and whole numbers. */
function bindings({ candidate, holder, lease }: RankingInput): Record<string, unknown> {
  return {
    candidate: bound(candidate),
    holder: bound(holder),
    lease: { ...lease, labels: new Map(Object.entries(lease.labels)) },
  };
}

function bound(candidate: RankingCandidate): Record<string, unknown> {
  return {
    ...candidate,
    labels: new Map(Object.entries(candidate.labels)),
    priority: BigInt(candidate.priority),
  };
}

/** An error in one line, with where it is. */
function describe(error: unknown): string {
  if (error instanceof ParseError || error instanceof TypeMismatch || error instanceof EvaluationError) {
    const place = error.range === undefined ? "" : ` (at character ${error.range.start + 1})`;
    return `${error.summary}${place}`;
  }
  return error instanceof Error ? error.message : String(error);
}
