import { describe, expect, it } from "vitest";
import { Oracle } from "./oracle.ts";

describe("the oracle", () => {
  it("says nothing about terms that follow each other and writes in the order of tokens", () => {
    const oracle = new Oracle();
    oracle.began("a", 5n, 100).lastActAtMs = 200;
    oracle.began("b", 9n, 201).lastActAtMs = 300;
    oracle.wrote(9n, 31n);
    oracle.wrote(5n, 30n);
    oracle.wrote(9n, 32n);
    expect(oracle.violations()).toEqual([]);
    expect(oracle.lastToken).toBe(9n);
  });

  it("sees a holder that acts after the next one began", () => {
    const oracle = new Oracle();
    oracle.began("b", 9n, 150).lastActAtMs = 300;
    oracle.began("a", 5n, 100).lastActAtMs = 200;
    expect(oracle.violations()).toEqual(["a (token 5) acted 50 ms after b (token 9) began"]);
  });

  it("sees one token that two led with", () => {
    const oracle = new Oracle();
    oracle.began("a", 5n, 100);
    oracle.began("b", 5n, 200);
    expect(oracle.violations()).toEqual(["a and b both led with token 5"]);
  });

  it("sees a write of an older term that was taken after one of a newer", () => {
    const oracle = new Oracle();
    oracle.wrote(9n, 30n);
    oracle.wrote(5n, 31n);
    expect(oracle.violations()).toEqual(["a write of token 5 was taken at 31, after one of token 9"]);
  });
});
