import { encodeRenewals, failureFromFault, type SessionPush } from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
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

  it("forgets a term that is refused for good, and not one whose renewal is only not known", () => {
    const pushes: SessionPush[] = [];
    const endings = new EndingPushes(
      () => ({ lease: "n/x", token: 9n, principal: "p" }),
      (push) => pushes.push(push),
    );
    const refused = (code: Fault["code"]) =>
      endings.onRefused([
        {
          holdId: 4n,
          partition: 2,
          sendNumber: 1n,
          failure: failureFromFault(new Fault({ code, reason: "FENCED", message: "no" })),
        },
      ]);
    const marked = () => endings.onRenewed(acks, [{ holdId: 4n, successor: "next" }]);
    marked();
    refused("UNAVAILABLE");
    marked();
    expect(pushes).toHaveLength(1);
    refused("ABORTED");
    marked();
    expect(pushes).toHaveLength(2);
    endings.forget("2.4");
    endings.onRenewed(acks, []);
    expect(pushes).toHaveLength(2);
  });
});
