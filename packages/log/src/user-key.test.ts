import { describe, expect, it } from "vitest";
import { createUserKey, userKeyOf } from "./user-key.ts";

describe("user keys", () => {
  it("are different each time and of the user kind", () => {
    const [first, second] = [createUserKey(), createUserKey()];
    expect(first.seed).toMatch(/^SU[A-Z2-7]{56}$/);
    expect(first.publicKey).toMatch(/^U[A-Z2-7]{55}$/);
    expect(first.seed).not.toBe(second.seed);
  });

  it("are found again from the text of a seed file", () => {
    const key = createUserKey();
    expect(userKeyOf(`${key.seed}\n`)).toEqual(key);
  });

  it("are refused without showing the text", () => {
    for (const text of ["", "secret", "SAABCDEF", "SUAAAA"]) {
      expect(() => userKeyOf(text)).toThrow(
        /^not the seed of a NATS user key: expected one line of text that begins with SU$/,
      );
    }
  });
});
