import { describe, expect, it } from "vitest";
import type { AppendOutcome } from "./append-channel.ts";
import { nextExpected, ProbeTally } from "./cas-probe.ts";

const acked = (sequence: bigint): AppendOutcome => ({ kind: "acked", sequence });
const conflict = (lastSequence: bigint): AppendOutcome => ({
  kind: "refused",
  refusal: "Conflict",
  description: `wrong last sequence: ${lastSequence}`,
  lastSequence,
});
const busy: AppendOutcome = { kind: "refused", refusal: "Busy", description: "wrong last sequence" };

describe("ProbeTally", () => {
  it("passes when every round had exactly one winner", () => {
    const tally = new ProbeTally();
    tally.add(0n, [acked(1n), conflict(1n), busy]);
    tally.add(1n, [busy, acked(2n), conflict(2n)]);
    expect(tally.result(2, 3)).toEqual({
      rounds: 2,
      contenders: 3,
      decidedRounds: 2,
      acked: 2,
      doubleWins: [],
      refusals: { Conflict: 2, Busy: 2 },
      passed: true,
    });
  });

  it("fails on two winners of one race", () => {
    const tally = new ProbeTally();
    tally.add(0n, [acked(1n), acked(2n), conflict(2n)]);
    expect(tally.result(1, 3)).toMatchObject({ passed: false, acked: 2, doubleWins: [{ expected: 0n, winners: 2 }] });
  });

  it("fails on two winners of one expected sequence in different races", () => {
    const tally = new ProbeTally();
    tally.add(4n, [acked(5n)]);
    tally.add(4n, [acked(6n)]);
    expect(tally.result(1, 1)).toMatchObject({ passed: false, doubleWins: [{ expected: 4n, winners: 2 }] });
  });

  it("does not pass when a round stayed undecided", () => {
    const tally = new ProbeTally();
    tally.add(0n, [busy, busy]);
    expect(tally.result(1, 2)).toMatchObject({ passed: false, decidedRounds: 0, doubleWins: [] });
  });
});

describe("nextExpected", () => {
  it("goes on from the winner, from the last one if there are several", () => {
    expect(nextExpected([conflict(9n), acked(3n), acked(4n)])).toEqual({ sequence: 4n, won: true });
  });

  it("goes on from what a conflict names when the winner's answer was lost", () => {
    expect(nextExpected([busy, conflict(9n)])).toEqual({ sequence: 9n, won: false });
  });

  it("learns nothing when all were busy", () => {
    expect(nextExpected([busy, busy])).toBeUndefined();
  });
});
