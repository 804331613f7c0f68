import { describe, expect, it } from "vitest";
import { leasesOf } from "./leases-of.ts";

describe("the leases of a command", () => {
  it("are all that it names", () => {
    const claims = ["a/b:1", "a/b:2"].map((name) => ({ lease: name, mode: "exclusive", units: 1 }) as const);
    const acquire = { kind: "acquire", claims, claimant: { holder: "h" }, sendNumber: 0n, principal: "p" } as const;
    expect(leasesOf(acquire)).toEqual(["a/b:1", "a/b:2"]);
    expect(leasesOf({ kind: "leaseRestored", lease: "a/b" } as never)).toEqual(["a/b"]);
    expect(leasesOf({ kind: "handOver", successor: "", principal: "p" })).toEqual([]);
  });
});
