import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareServerVersions, isSufficient, parseServerVersion, upstreamVersion } from "./version.ts";

describe("the version of a server", () => {
  test.each([
    ["nats-server: v2.10.27", "2.10.27"],
    ["nats-server: v2.12.0-RC.1\n", "2.12.0-RC.1"],
    ["2.9.10", "2.9.10"],
    ["nats-server: unknown", undefined],
    ["", undefined],
  ])("is read from %j as %j", (output, version) => {
    expect(parseServerVersion(output)).toBe(version);
  });

  test.each([
    ["2.15.1-1", "2.15.1"],
    ["2.9.10-1+b3", "2.9.10"],
    ["1:2.10.27+dfsg-1~bpo12+1", "2.10.27"],
    ["2.11.0~rc1-1", "2.11.0-rc1"],
    ["2.10.27-1build1", "2.10.27"],
    ["2.10.27", "2.10.27"],
    ["unknown", undefined],
  ])("of the package %j is %j", (packageVersion, version) => {
    expect(upstreamVersion(packageVersion)).toBe(version);
  });

  test.each([
    ["2.9.10", false],
    ["2.9.99", false],
    ["2.10.22", false],
    ["2.10.23-RC.1", false],
    ["2.10.23", true],
    ["2.10.27", true],
    ["2.15.1", true],
    ["10.0.0", true],
  ])("%s against the minimum 2.10.23: sufficient is %s", (version, sufficient) => {
    expect(isSufficient(version, "2.10.23")).toBe(sufficient);
  });

  test("orders versions as their numbers do, whatever the digits", () => {
    const part = fc.nat(200);
    fc.assert(
      fc.property(fc.tuple(part, part, part), fc.tuple(part, part, part), (left, right) => {
        const byNumbers = left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
        expect(Math.sign(compareServerVersions(left.join("."), right.join(".")))).toBe(Math.sign(byNumbers));
      }),
    );
  });

  test("puts a pre-release before its release and orders pre-releases by name", () => {
    const sorted = ["2.12.0", "2.12.0-RC.2", "2.11.9", "2.12.0-RC.1"].sort(compareServerVersions);
    expect(sorted).toEqual(["2.11.9", "2.12.0-RC.1", "2.12.0-RC.2", "2.12.0"]);
  });
});
