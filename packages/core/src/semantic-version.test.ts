import { describe, expect, it } from "vitest";
import { compareVersions, parseVersion } from "./semantic-version.ts";
import { isInRange, parseVersionRange } from "./version-range.ts";

describe("semantic versions", () => {
  it.each(["v1.2.3", "1.2", "1.2.3.4", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "", " 1.2.3", "1.2.x"])(
    "[42] %j is not strict",
    (text) => {
      expect(parseVersion(text)).toBeUndefined();
    },
  );

  it.each(["0.0.0", "1.2.3", "1.2.3-rc.1", "1.2.3+build.5", "1.2.3-a-b.0+x", "999999999999999999999.0.0"])(
    "[42] %j is strict",
    (text) => {
      expect(parseVersion(text)).toBeDefined();
    },
  );

  it("[62] compare by number and pre-release: every one of this list is below the next", () => {
    const ordered = [
      "1.2.0",
      "1.19.0-alpha",
      "1.19.0-alpha.1",
      "1.19.0-alpha.beta",
      "1.19.0-beta.2",
      "1.19.0-beta.11",
      "1.19.0",
      "1.19.1",
      "1.20.0",
      "2.0.0",
    ];
    const versions = ordered.map((text) => parseVersion(text));
    for (const [index, left] of versions.entries()) {
      for (const [other, right] of versions.entries()) {
        expect(left && right && compareVersions(left, right)).toBe(Math.sign(index - other));
      }
    }
  });

  it("ignore build metadata", () => {
    const [left, right] = [parseVersion("1.0.0+a"), parseVersion("1.0.0+b")];
    expect(left && right && compareVersions(left, right)).toBe(0);
  });
});

describe("version ranges", () => {
  it.each([
    ["", "1.0.0", true],
    [">=1.21.0 <1.23.0", "1.22.5", true],
    [">=1.21.0 <1.23.0", "1.23.0", false],
    [">1.21.0", "1.21.0", false],
    ["<=1.21.0", "1.21.0", true],
    ["1.21.0", "1.21.0", true],
    ["=1.21.0", "1.21.1", false],
    ["<1.21.0", "1.20.9", true],
  ])("%j has %s: %s", (range, version, expected) => {
    const [parsedRange, parsed] = [parseVersionRange(range), parseVersion(version)];
    expect(parsedRange && parsed && isInRange(parsed, parsedRange)).toBe(expected);
  });

  it.each([">=1.2", "~1.2.3", ">= 1.2.3", "foo"])("%j is malformed", (range) => {
    expect(parseVersionRange(range)).toBeUndefined();
  });
});
