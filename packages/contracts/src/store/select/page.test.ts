import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { faultOfAnswer } from "../testing/owner-desk.ts";
import { defaultPageSize, encodePageToken, pageTokenExpired, readPage } from "./page.ts";

describe("a page", () => {
  it("goes on where its token says, for the same list only", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.string({ unit: "grapheme" }), (revision, after) => {
        const token = encodePageToken({ revision, after }, "leases");
        expect(readPage({ size: 3, token }, "leases")).toEqual({ size: 3, from: { revision, after } });
        expect(faultOfAnswer(readPage({ size: 3, token }, "candidates")).reason).toBe("TOKEN_INVALID");
      }),
    );
  });

  it("has a default and a greatest size", () => {
    expect(readPage(undefined, "leases")).toEqual({ size: defaultPageSize, from: undefined });
    expect(faultOfAnswer(readPage({ size: 5_001, token: "" }, "leases")).details.violations?.[0]?.field).toBe(
      "page.size",
    );
    expect(faultOfAnswer(readPage({ size: 1, token: "nonsense" }, "leases")).reason).toBe("TOKEN_INVALID");
    expect(pageTokenExpired({ revision: 5n, after: "" })).toMatchObject({
      code: "OUT_OF_RANGE",
      reason: "PAGE_TOKEN_EXPIRED",
    });
  });
});
