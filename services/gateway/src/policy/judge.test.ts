import { LeaseServiceAcquireRequest, LeaseServiceListRequest } from "@tenure/contracts";
import { leaseKey } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { type Denial, Judge } from "./judge.ts";
import { Policy } from "./policy.ts";

const billing = "spiffe://example.org/billing";

function setUp() {
  const denials: Denial[] = [];
  const judge = new Judge({
    policy: new Policy([
      { principals: [billing], namespaces: ["billing"], names: ["a*"], verbs: ["lead"] },
      { principals: [billing], namespaces: ["billing"], verbs: ["observe"] },
    ]),
    identityNamespace: "tenure-identities",
    termOf: (partition, holdId) => {
      if (partition !== 1) return undefined;
      return { lease: leaseKey("billing", holdId === 1 ? "a" : "b") };
    },
    onDenied: (denial) => void denials.push(denial),
  });
  const faultOf = (work: () => void) => {
    try {
      work();
      return undefined;
    } catch (thrown) {
      return thrown;
    }
  };
  const acquire = (principal: string, ...names: string[]) => {
    const claims = names.map((name) => ({ lease: { namespace: "billing", name } }));
    const request = LeaseServiceAcquireRequest.encode(LeaseServiceAcquireRequest.fromPartial({ claims })).finish();
    return faultOf(() => judge.admit(principal, "LeaseService.Acquire", request));
  };
  const list = (namespace: string, namePrefix = "") => {
    const request = LeaseServiceListRequest.fromPartial({ selector: { namespace, namePrefix } });
    const bytes = LeaseServiceListRequest.encode(request).finish();
    return faultOf(() => judge.admit(billing, "LeaseService.List", bytes));
  };
  return { denials, judge, acquire, list, faultOf };
}

describe("the judge", () => {
  it("lets pass what a rule allows", () => {
    const { acquire, denials, list } = setUp();
    expect([acquire(billing, "a"), acquire(billing, "a", "ab"), list("billing"), list("billing", "x")]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(denials).toEqual([]);
  });

  it("denies a call of which one part is not allowed, and says who needs what where", () => {
    const { acquire, denials } = setUp();
    const fault = acquire(billing, "a", "b");
    expect(fault).toMatchObject({
      code: "PERMISSION_DENIED",
      reason: "NOT_ALLOWED",
      message: `LeaseService.Acquire needs lead on billing/b, and no rule of the gateway's policy allows it to ${billing}`,
      details: { applied: "NO", attributes: { principal: billing, verb: "lead", namespace: "billing", name: "b" } },
    });
    expect(denials).toEqual([
      { principal: billing, method: "LeaseService.Acquire", verb: "lead", namespace: "billing", name: "b" },
    ]);
  });

  it("denies everything to a principal that no rule names", () => {
    const { acquire } = setUp();
    expect(acquire("spiffe://example.org/other", "a")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(acquire("anonymous", "a")).toMatchObject({ code: "PERMISSION_DENIED" });
  });

  it("shows what a denied list was about, and not all of a name that is far too long", () => {
    const { acquire, denials, list } = setUp();
    list("");
    list("shipping", "x");
    acquire(billing, "b".repeat(10_000));
    expect(denials.map(({ name, namespace }) => `${namespace}/${name}`)).toEqual([
      "*/",
      "shipping/x*",
      `billing/${"b".repeat(300)}…`,
    ]);
  });

  it("judges renewals by the lease of their hold, and leaves those that it does not know to their owner", () => {
    const { denials, judge } = setUp();
    expect(judge.refuseRenewal(billing, 1, 1)).toBeUndefined();
    expect(judge.refuseRenewal(billing, 2, 1)).toBe("unknown");
    const refusal = judge.refuseRenewal(billing, 1, 2);
    expect(refusal).toBeInstanceOf(Fault);
    expect(refusal).toMatchObject({ code: "PERMISSION_DENIED", reason: "NOT_ALLOWED" });
    expect(denials).toMatchObject([{ method: "LeaseService.Renew", namespace: "billing", name: "b" }]);
  });

  it("lets every authenticated client open a session, and no method pass that it does not know", () => {
    const { faultOf, judge } = setUp();
    expect(faultOf(() => judge.admit("p", "SessionService.Session", new Uint8Array(0)))).toBeUndefined();
    expect(faultOf(() => judge.admit("p", "LeaseService.Unheard", new Uint8Array(0)))).toBeInstanceOf(Error);
  });
});
