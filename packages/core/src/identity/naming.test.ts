import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkLeaseKey, leaseKey } from "../key.ts";
import { checkIdentityId, freshDigits, freshIdentityId, hostLabel, stableIdentityId } from "./naming.ts";

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest());
const origin = { component: "scheduler", host: "node-1", processId: 7, naming: "fresh" } as const;

describe("a stable id", () => {
  it.each([
    ["node-1", "apiserver-lgabes5ywnaqeagh5dny4zlzs4"],
    ["master-1", "apiserver-wj467rbl25eeviqacfhvg2yvnm"],
    ["localhost", "apiserver-l2yubf4cvcl5c7a3wrubrwqdve"],
    ["control-plane-0.example.com", "apiserver-vda2arxtvsv5lfa4lk2htf3rki"],
  ])("[93] of host %s is %s, at every start", (host, id) => {
    expect(stableIdentityId(host, "kube-apiserver", sha256)).toBe(id);
    const stable = { ...origin, component: "kube-apiserver", host, naming: "stable" } as const;
    expect(checkIdentityId(id, stable, sha256)).toEqual([]);
    expect(checkIdentityId(`${id}x`, stable, sha256)).toMatchObject([{ field: "id" }]);
  });

  it("keeps hosts and components apart, also where their texts join to the same", () => {
    expect(stableIdentityId("ab", "c", sha256)).not.toBe(stableIdentityId("a", "bc", sha256));
  });
});

describe("a fresh id", () => {
  it("is host, process id and six digits", () => {
    expect(freshIdentityId("node-1", 4711, "abc123")).toBe("node-1-4711-abc123");
    expect(freshDigits(() => 0)).toBe("111111");
    expect(freshDigits(() => 0.9999)).toBe("zzzzzz");
  });

  it("[100] is a legal name of a lease whatever the host is called, and follows its own rule", () => {
    const anyHost = fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ minLength: 200, maxLength: 300 }));
    fc.assert(
      fc.property(anyHost, fc.nat({ max: 4_194_304 }), fc.nat(), (host, processId, seed) => {
        const id = freshIdentityId(
          host,
          processId,
          freshDigits(() => (seed % 1_000) / 1_000),
        );
        expect(checkLeaseKey(leaseKey("tenure-identities", id))).toEqual([]);
        expect(checkIdentityId(id, { ...origin, host, processId }, sha256)).toEqual([]);
      }),
    );
  });

  it.each(["node-1", "node-1-7-ABCDEF", "node-1-8-abcdef", "Node-1-7-abcdef", "a:b-7-abcdef"])("is not %s", (id) => {
    expect(checkIdentityId(id, origin, sha256)).toHaveLength(1);
  });
});

describe("a host as a label", () => {
  it.each(["node-1", "a.b.c", "N_1"])("[100] %s is one", (host) => expect(hostLabel(host)).toBe(host));
  it.each(["", "-a", "host name", "a".repeat(64)])("[100] %j is left out", (host) =>
    expect(hostLabel(host)).toBeUndefined(),
  );
});
