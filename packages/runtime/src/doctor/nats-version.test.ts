import { describe, expect, it } from "vitest";
import { judgeNatsVersion, parseNatsVersion } from "./nats-version.ts";

describe("parseNatsVersion", () => {
  it.each([
    ["2.15.1", { major: 2, minor: 15, patch: 1, isPrerelease: false }],
    ["v2.15.1", { major: 2, minor: 15, patch: 1, isPrerelease: false }],
    ["2.12.0-RC.3", { major: 2, minor: 12, patch: 0, isPrerelease: true }],
    ["2.10.27+debian", { major: 2, minor: 10, patch: 27, isPrerelease: false }],
    ["2.14.5-preview.2+build.7", { major: 2, minor: 14, patch: 5, isPrerelease: true }],
  ])("reads %s", (text, version) => {
    expect(parseNatsVersion(text)).toEqual(version);
  });

  it.each(["", "2", "2.15", "two", "2.15.x", "2.15.1.4", "-2.15.1"])("does not read %j", (text) => {
    expect(parseNatsVersion(text)).toBeUndefined();
  });
});

describe("judgeNatsVersion", () => {
  it.each([
    ["1.4.1", "refused"],
    ["2.9.10", "refused"],
    ["2.9.25", "refused"],
    ["2.10.22", "refused"],
    ["2.10.23-RC.1", "refused"],
    ["2.10.23", "development"],
    ["2.10.27+debian", "development"],
    ["2.11.0", "faulty"],
    ["2.11.15", "faulty"],
    ["2.11.16", "production"],
    ["2.12.0-RC.3", "faulty"],
    ["2.12.14", "faulty"],
    ["2.12.15", "production"],
    ["2.13.9", "faulty"],
    ["2.14.4", "faulty"],
    ["2.14.5-RC.1", "faulty"],
    ["2.14.5", "production"],
    ["2.15.0-RC.1", "faulty"],
    ["2.15.0", "production"],
    ["2.15.1", "production"],
    ["2.16.0", "production"],
    ["3.0.0", "production"],
    ["main", "unknown"],
    ["", "unknown"],
  ])("calls %s %s", (version, verdict) => {
    expect(judgeNatsVersion(version)).toBe(verdict);
  });
});
