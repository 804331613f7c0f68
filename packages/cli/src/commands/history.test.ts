import { TermEndReason, Transition, TransitionKind } from "@tenure/contracts";
import type { Tenure } from "@tenure/sdk";
import { describe, expect, it } from "vitest";
import type { Invocation } from "../command/command.ts";
import { Values } from "../command/values.ts";
import { historyCommand } from "./history.ts";

const granted = (token: bigint) => Transition.fromPartial({ kind: TransitionKind.GRANTED, token, holder: `n${token}` });
const ended = (token: bigint) =>
  Transition.fromPartial({ kind: TransitionKind.ENDED, token, endReason: TermEndReason.RELEASED, holder: `n${token}` });
const strategy = Transition.fromPartial({ kind: TransitionKind.STRATEGY_CHANGED });

/** Newest first: a running term, a change of strategy, two that are over, of the older only its end. */
const lines = [granted(3n), strategy, ended(2n), granted(2n), ended(1n)];

let connections = 0;

/** Runs it against a lease with these lines. */
async function see(flags: Readonly<Record<string, string>>, isTruncated: boolean, format: Invocation["format"]) {
  const seen = { out: "", err: "" };
  async function* history() {
    yield* lines;
    return { isTruncated };
  }
  await historyCommand.run({
    values: new Values(flags),
    positionals: ["a/b"],
    format,
    settings: { namespace: "default" },
    terminal: {
      columns: 80,
      paint: (text: string) => text,
      print: (text: string) => {
        seen.out += text;
      },
      note: (text: string) => {
        seen.err += text;
      },
    },
    connect: async () => {
      connections += 1;
      return { leases: { history } } as unknown as Tenure;
    },
  } as unknown as Invocation);
  return seen;
}

const tokensOf = (out: string) => out.split("\n").map((line) => JSON.parse(line).token ?? "");

describe("history", () => {
  it("prints every line for programs unless told otherwise", async () => {
    expect(tokensOf((await see({}, false, "jsonl")).out)).toEqual(["3", "", "2", "2", "1"]);
  });

  it.each([
    ["1", ["3"]],
    ["2", ["3", "", "2", "2"]],
    ["3", ["3", "", "2", "2", "1"]],
  ])("--limit %s counts terms for programs too", async (limit, tokens) => {
    expect(tokensOf((await see({ limit }, false, "jsonl")).out)).toEqual(tokens);
  });

  it("--limit counts terms for people", async () => {
    const { out } = await see({ limit: "2" }, false, "table");
    expect(out).toMatch(/^n3 +3 [\s\S]*^n2 +2 /m);
    expect(out).not.toContain("n1");
  });

  it.each(["table", "jsonl"] as const)("says as %s when older terms were dropped", async (format) => {
    expect((await see({}, true, format)).err).toMatch(/^older terms were dropped/);
    expect((await see({}, false, format)).err).toBe("");
  });

  it("does not say so to whoever asked for fewer than there are", async () => {
    expect((await see({ limit: "1" }, true, "table")).err).toBe("");
  });

  it("refuses a wrong limit before it connects", async () => {
    connections = 0;
    await expect(see({ limit: "0" }, false, "jsonl")).rejects.toThrow("--limit must be a whole number from 1");
    expect(connections).toBe(0);
  });
});
