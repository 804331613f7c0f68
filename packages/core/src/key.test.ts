import { describe, expect, it } from "vitest";
import {
  checkCandidateName,
  checkGuardedKey,
  checkLeaseKey,
  isOfSystem,
  leaseKey,
  nameOf,
  namespaceOf,
} from "./key.ts";

describe("lease keys", () => {
  it.each([
    "billing/scheduler",
    "a/b",
    "kube-system/kube-controller-manager",
    "ns/a.b-c.d9",
    "billing/acct:1",
    "billing/acct:1:x.y",
    `ns/${"a".repeat(253)}`,
    `${"n".repeat(63)}/x`,
  ])("[19] %s is legal", (key) => {
    expect(checkLeaseKey(key)).toEqual([]);
  });

  it.each([
    ["/scheduler", ["lease.namespace"]],
    ["scheduler", ["lease.namespace"]],
    ["ns/", ["lease.name"]],
    ["ns/Upper", ["lease.name"]],
    ["ns/under_score", ["lease.name"]],
    ["ns/-a", ["lease.name"]],
    ["ns/a-", ["lease.name"]],
    ["ns/a..b", ["lease.name"]],
    ["ns/a/b", ["lease.name"]],
    ["ns/:1", ["lease.name"]],
    ["ns/a:", ["lease.name"]],
    ["a.b/x", ["lease.namespace"]],
    [`ns/${"a".repeat(254)}`, ["lease.name"]],
    [`${"n".repeat(64)}/x`, ["lease.namespace"]],
    ["NS/Bad", ["lease.namespace", "lease.name"]],
  ])("[19] %s is refused", (key, fields) => {
    expect(checkLeaseKey(key).map(({ field }) => field)).toEqual(fields);
  });

  it("splits at the first slash and joins again", () => {
    const key = leaseKey("billing", "acct:1");
    expect([key, namespaceOf(key), nameOf(key)]).toEqual(["billing/acct:1", "billing", "acct:1"]);
  });

  it.each([
    ["tenure-system/shard-1", true],
    ["tenure-identities", true],
    ["tenure/scheduler", false],
    ["billing/tenure-x", false],
  ])("%s is the system's own: %s", (key, isIts) => {
    expect(isOfSystem(key)).toBe(isIts);
  });
});

describe("candidate names", () => {
  it.each(["Host_1-uuid.x", "a", ".x", "x..y", "A".repeat(253)])("[47] %s is legal", (name) => {
    expect(checkCandidateName(name)).toEqual([]);
  });

  it.each(["", ".", "..", "..x", "a b", "a/b", "a".repeat(254)])("[47] %j is refused", (name) => {
    expect(checkCandidateName(name)).toHaveLength(1);
  });
});

describe("guarded keys", () => {
  it.each(["shards/7", "A_b-c.d"])("%s is legal", (key) => expect(checkGuardedKey(key)).toEqual([]));
  it.each(["", "a b", "a:b", "k".repeat(254)])("%j is refused", (key) => expect(checkGuardedKey(key)).toHaveLength(1));
});
