import { describe, expect, it } from "vitest";
import { decodeResumeToken, encodeResumeToken } from "./resume-token.ts";

describe("a resume token", () => {
  it.each([{ revision: 100n }, { revision: 100n, part: { sequence: 120n, changes: 500 } }])(
    "says where the watch stands: %o",
    (place) => {
      const token = encodeResumeToken("leases", "incarnation", place);
      const wanted = { subject: "leases", isOwnIncarnation: true, ...place };
      expect(decodeResumeToken(token, "incarnation")).toEqual(wanted);
      expect(decodeResumeToken(token, "another").isOwnIncarnation).toBe(false);
      expect(token.length).toBeLessThanOrEqual(256);
    },
  );

  it.each([[[]], [[1, 2, 3]], [Array.from({ length: 14 }, () => 9)], [[2, 7, ...Array.from({ length: 12 }, () => 0)]]])(
    "is refused when it is none: %j",
    (bytes) => {
      expect(() => decodeResumeToken(new Uint8Array(bytes), "incarnation")).toThrow(
        expect.objectContaining({ code: "INVALID_ARGUMENT", reason: "TOKEN_INVALID" }),
      );
    },
  );
});
