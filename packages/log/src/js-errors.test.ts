import { describe, expect, it } from "vitest";
import { lastSequenceOf, refusalOf } from "./js-errors.ts";

describe("refusalOf", () => {
  it.each([
    [10071, "wrong last sequence: 12", "Conflict"],
    [10164, "wrong last sequence", "Busy"],
    [10008, "JetStream system temporarily unavailable", "Unavailable"],
    [10009, "JetStream cluster can not handle request", "Unavailable"],
    [10039, "JetStream not enabled for account", "Unavailable"],
    [10076, "JetStream not enabled", "Unavailable"],
    [10077, "maximum bytes exceeded", "Full"],
    [10077, "maximum messages exceeded", "Full"],
    [10077, "write /data/1.blk: input/output error", "Ambiguous"],
    [10047, "insufficient storage resources available", "Full"],
    [10054, "message size exceeds maximum allowed", "Full"],
    [19999, "something new", "Ambiguous"],
  ] as const)("takes error %i (%s) for %s", (number, description, refusal) => {
    expect(refusalOf({ code: 400, err_code: number, description })).toBe(refusal);
  });

  it("takes an error without a number for Ambiguous", () => {
    expect(refusalOf({ code: 500 })).toBe("Ambiguous");
  });
});

describe("lastSequenceOf", () => {
  it("reads the sequence that a conflict names", () => {
    const description = "wrong last sequence: 1763270400000001";
    expect(lastSequenceOf({ code: 400, err_code: 10071, description })).toBe(1763270400000001n);
  });

  it("knows none where none is named", () => {
    expect(lastSequenceOf({ code: 400, err_code: 10164, description: "wrong last sequence" })).toBeUndefined();
  });
});
