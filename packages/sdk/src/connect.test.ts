import { seededRandom } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { connect } from "./connect.ts";
import { makeHolderId } from "./instance/holder-id.ts";
import { leaseNameOf } from "./term/lease-name.ts";

describe("connect", () => {
  it.each([
    ["no way to the service", {}, "exactly one of the three"],
    ["two ways", { endpoint: "a:1", nats: { servers: ["nats://a"] } }, "exactly one of the three"],
    ["an endpoint that is none", { endpoint: "not a host" }, "endpoint"],
    ["an unsafe timing", { endpoint: "a:1", timing: { leaseDuration: "1s" } }, "usableTerm must be above 0"],
    ["a time that is none", { endpoint: "a:1", connectTimeout: "soon" }, "connectTimeout"],
  ])("refuses %s at once", async (_what, options, message) => {
    await expect(connect(options)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining(message),
    });
  });

  it("gives up when nobody answers in time", async () => {
    const options = { endpoint: "127.0.0.1:1", connectTimeout: "300ms", renewal: "inline" } as const;
    await expect(connect(options)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      reason: "UNREACHABLE",
      retryable: true,
    });
  });
});

describe("an identity", () => {
  it("has the host, the process and six digits of chance", () => {
    expect(makeHolderId(seededRandom(1))).toMatch(new RegExp(`^.+_${process.pid}_[1-9A-HJ-NP-Za-km-z]{6}$`));
  });
});

describe("a lease's name", () => {
  it.each([
    ["a/b", { namespace: "a", name: "b" }],
    ["b", { namespace: "home", name: "b" }],
    [{ name: "b" }, { namespace: "home", name: "b" }],
    [
      { namespace: "a", name: "b:1" },
      { namespace: "a", name: "b:1" },
    ],
  ])("%j is read", (input, expected) => expect(leaseNameOf(input, "home")).toEqual(expected));

  it.each(["a/B", "a/", "/b", "a/b/c", "a/*", "a/>", "a/b c", `a/${"x".repeat(254)}`])(
    "%s is refused with its rule",
    (input) => {
      expect(() => leaseNameOf(input, undefined)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    },
  );
});
