import { describe, expect, it } from "vitest";
import { AttemptLedger } from "./attempts.ts";

describe("attempts", () => {
  it("have a client id of their own while they are open, and share it one after the other", () => {
    const ledger = new AttemptLedger("me");
    const first = ledger.open();
    const second = ledger.open();
    expect(first.attempt).toEqual({ clientId: "me.1", number: 1n, settledBelow: 1n });
    expect(second.attempt).toEqual({ clientId: "me.2", number: 1n, settledBelow: 1n });
    first.settle();
    first.settle();
    expect(ledger.openCount).toBe(1);
    expect(ledger.open().attempt).toEqual({ clientId: "me.1", number: 2n, settledBelow: 2n });
    expect(ledger.open().attempt.clientId).toBe("me.3");
  });

  it("never name two changes alike, whatever the order of opening and settling", () => {
    const ledger = new AttemptLedger("me");
    const names = new Set<string>();
    let open: ReturnType<AttemptLedger["open"]>[] = [];
    for (let round = 0; round < 1_000; round += 1) {
      const made = ledger.open();
      names.add(`${made.attempt.clientId}/${made.attempt.number}`);
      open.push(made);
      if (round % 3 === 0) open = open.filter((one, index) => (index % 2 === 0 ? one.settle() : true));
    }
    expect(names.size).toBe(1_000);
  });
});
