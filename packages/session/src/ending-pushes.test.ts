import { encodeRenewals, type SessionPush } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { EndingPushes } from "./ending-pushes.ts";

const acks = encodeRenewals([{ partition: 2, sendNumber: 1, holdIds: [4, 5] }]);

describe("EndingPushes", () => {
  it("tells once that a term is to end, and once that it is not any more", () => {
    const pushes: SessionPush[] = [];
    const endings = new EndingPushes(
      (_, holdId) => (holdId === 4 ? { lease: "n/x", token: 9n, principal: "p" } : undefined),
      (push) => pushes.push(push),
    );
    endings.onRenewed(acks, []);
    endings.onRenewed(acks, [{ holdId: 4n, successor: "next" }]);
    endings.onRenewed(acks, [
      { holdId: 4n, successor: "next" },
      { holdId: 5n, successor: "unknown" },
    ]);
    endings.onRenewed(acks, []);
    const told = pushes.map(({ push }) =>
      push?.$case === "endOfTerm"
        ? [push.value.lease, push.value.endOfTerm?.token, push.value.endOfTerm?.preferredHolder, push.value.cleared]
        : push,
    );
    expect(told).toEqual([
      [{ namespace: "n", name: "x" }, 9n, "next", false],
      [{ namespace: "n", name: "x" }, 9n, "", true],
    ]);
  });
});
