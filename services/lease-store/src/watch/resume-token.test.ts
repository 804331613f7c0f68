import { describe, expect, it } from "vitest";
import { decodeResumeToken, encodeResumeToken } from "./resume-token.ts";

describe("a resume token", () => {
  it("says where the watch stands, and of which partitions more was delivered", () => {
    const ahead = new Map([
      [3, 120n],
      [4, 90n],
    ]);
    const token = encodeResumeToken("leases", "incarnation", { revision: 100n, ahead });
    expect(decodeResumeToken(token, "incarnation")).toEqual({
      subject: "leases",
      isOwnIncarnation: true,
      revision: 100n,
      ahead: new Map([[3, 120n]]),
    });
    expect(decodeResumeToken(token, "another").isOwnIncarnation).toBe(false);
  });

  it("stays below 256 bytes whatever the number of partitions", () => {
    const ahead = new Map(Array.from({ length: 500 }, (_, partition) => [partition, 200n] as const));
    expect(encodeResumeToken("candidates", "incarnation", { revision: 100n, ahead }).length).toBeLessThanOrEqual(256);
  });

  it.each([[[]], [[1, 2, 3]], [Array.from({ length: 14 }, () => 9)]])("is refused when it is none: %j", (bytes) => {
    expect(() => decodeResumeToken(new Uint8Array(bytes), "incarnation")).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", reason: "TOKEN_INVALID" }),
    );
  });
});
