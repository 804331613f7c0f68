import { describe, expect, it } from "vitest";
import { Batch } from "./gen/tenure/log/v1/batch.ts";
import { Grant } from "./gen/tenure/v1/claim.ts";
import { Renewal } from "./gen/tenure/v1/renewal.ts";

const wide = [2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 64n - 1n];

describe("64-bit numbers", () => {
  it.each(wide)("keep %d exactly as token, revision and send number", (value) => {
    const grant = Grant.fromPartial({ hold: { token: value, holdId: value }, sendNumber: value, revision: value });
    expect(Grant.decode(Grant.encode(grant).finish())).toEqual(grant);
    const renewal = Renewal.fromPartial({ token: value, sendNumber: value });
    expect(Renewal.decode(Renewal.encode(renewal).finish())).toEqual(renewal);
  });

  it.each(wide)("keep %d exactly in a batch of the log", (value) => {
    const batch = Batch.fromPartial({ epoch: value, prev: value, snapshot: { sequence: value } });
    expect(Batch.decode(Batch.encode(batch).finish())).toEqual(batch);
  });

  it.each(wide)("keep %d exactly in JSON, as text", (value) => {
    expect(Renewal.toJSON(Renewal.fromPartial({ token: value }))).toEqual({ token: String(value) });
  });

  it("are refused when they do not fit, never cut short", () => {
    expect(() => Renewal.encode(Renewal.fromPartial({ token: 2n ** 64n }))).toThrow();
    expect(() => Renewal.encode(Renewal.fromPartial({ token: -1n }))).toThrow();
  });
});
