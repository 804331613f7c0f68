import { describe, expect, it } from "vitest";
import { isCoordinated, strategyInForce } from "../coordination.ts";
import { defaultLeaseSpec } from "../record/lease-spec.ts";
import type { StrategyKind } from "../record/strategy.ts";
import { candidateSpec, register } from "../testing/candidates.ts";
import { Desk } from "../testing/desk.ts";

const lease = "billing/scheduler";
const strategy = (kind: StrategyKind) => ({
  kind,
  expression: kind === "expression" ? "1" : "",
  vendor: kind === "vendor" ? "a.b/c" : "",
});

function withFallback(fallbackDelayMs: number | undefined): Desk {
  const desk = new Desk();
  desk.run({ kind: "create", lease, spec: { ...defaultLeaseSpec, fallbackDelayMs } }, "op");
  register(desk, lease, "a");
  return desk;
}

describe("mixed fleets (rule 21)", () => {
  it("plain claims beside live candidates wait for the fallback delay", () => {
    const desk = withFallback(5_000);
    expect(desk.try("plain", lease)).toEqual({ kind: "coordinated", lease, retryAfterMs: 5_000 });
    desk.advance(4_999);
    expect(desk.try("plain", lease)).toMatchObject({ kind: "coordinated", retryAfterMs: 1 });
    desk.advance(1);
    expect(desk.try("plain", lease).kind).toBe("granted");
  });

  it("[81] are never granted when no fallback delay is set, which is the default", () => {
    const desk = withFallback(undefined);
    desk.advance(600_000);
    expect(desk.try("plain", lease)).toEqual({ kind: "coordinated", lease, retryAfterMs: undefined });
    desk.advance(candidateSpec().validityMs);
    expect(desk.try("plain", lease).kind).toBe("granted");
  });

  it("the delay counts anew from the end of a term and from a choice that lapsed", () => {
    const desk = withFallback(5_000);
    desk.advance(5_000);
    const { token } = desk.take("plain", lease);
    desk.advance(10_000);
    desk.run({ kind: "release", items: [{ lease, token }] }, "plain");
    expect(desk.try("plain", lease)).toMatchObject({ kind: "coordinated", retryAfterMs: 5_000 });
    desk.advance(3_000);
    const expectedRevision = desk.record(lease).revision.sequence;
    desk.run({ kind: "elect", lease, expectedRevision, candidate: "a", coordinator: "co" }, "co");
    desk.advance(2_000);
    // Whether its lapse is written down already or not.
    expect(desk.try("plain", lease)).toMatchObject({ kind: "coordinated", retryAfterMs: 5_000 });
    desk.run({ kind: "expire", lease }, "owner");
    expect(desk.try("plain", lease)).toMatchObject({ kind: "coordinated", retryAfterMs: 5_000 });
    desk.advance(5_000);
    desk.take("plain", lease);
    desk.advance(15_000);
    expect(desk.try("other", lease)).toMatchObject({ kind: "coordinated", retryAfterMs: 5_000 });
  });

  it("a fallback claim names its own candidate and counts as elected", () => {
    const desk = withFallback(5_000);
    register(desk, lease, "b");
    expect(desk.try("a", lease, { fallbackCandidate: "a" })).toMatchObject({
      kind: "coordinated",
      retryAfterMs: 5_000,
    });
    desk.advance(5_000);
    expect(desk.try("a", lease, { fallbackCandidate: "ghost" }).kind).toBe("candidateNotFound");
    expect(desk.try("a", lease, { fallbackCandidate: "b" }).kind).toBe("principalMismatch");
    desk.take("a", lease, { fallbackCandidate: "a" });
    expect(desk.record(lease).holds[0]).toMatchObject({ origin: "fallback", details: { candidate: "a" } });
  });

  it("are free where the candidates ask for no coordination, an operator says so, or no candidate is left", () => {
    const free = new Desk();
    register(free, lease, "a", { strategy: strategy("noCoordination") });
    expect(free.try("plain", lease).kind).toBe("granted");

    const operated = withFallback(undefined);
    const expectedRevision = operated.record(lease).revision.sequence;
    const setting = { strategy: strategy("noCoordination"), source: "operator" } as const;
    operated.run({ kind: "putStrategy", lease, expectedRevision, strategy: setting, conflict: undefined }, "op");
    expect(operated.try("plain", lease).kind).toBe("granted");

    const alone = withFallback(undefined);
    alone.run({ kind: "withdrawCandidate", lease, candidate: "a", expectedRevision: undefined }, "a");
    expect(alone.try("plain", lease).kind).toBe("granted");
  });

  it("a conflict of strategies counts as coordinated", () => {
    const desk = new Desk();
    register(desk, lease, "a", { strategy: { kind: "vendor", expression: "", vendor: "a.b/one" } });
    register(desk, lease, "b", { strategy: { kind: "vendor", expression: "", vendor: "a.b/two" } });
    expect(strategyInForce(desk.record(lease), desk.now).kind).toBe("conflict");
    expect(isCoordinated(desk.record(lease), desk.now)).toBe(true);
  });
});

describe("the strategy of a lease (rule 21)", () => {
  const put = { kind: "putStrategy", lease, conflict: undefined } as const;

  it("records who set it; consensus does not override an operator, who alone may take it back", () => {
    const desk = new Desk();
    const operators = { strategy: strategy("priority"), source: "operator" } as const;
    expect(
      desk.run({ ...put, expectedRevision: 0n, strategy: operators }, { principal: "op", reason: "drill" }).kind,
    ).toBe("changed");
    expect(desk.record(lease).strategy).toMatchObject({ ...operators, author: "op", reason: "drill" });
    const at = () => desk.record(lease).revision.sequence;
    const agreed = { strategy: strategy("newestCompatibilityVersion"), source: "consensus" } as const;
    expect(desk.run({ ...put, expectedRevision: at(), strategy: agreed }, "co")).toMatchObject({
      kind: "immutable",
      field: "strategy",
    });
    expect(desk.run({ ...put, expectedRevision: 1n, strategy: agreed }, "co").kind).toBe("revisionConflict");
    expect(desk.run({ ...put, expectedRevision: at(), strategy: undefined }, "op").kind).toBe("changed");
    expect(desk.record(lease).strategy).toBeUndefined();
    expect(desk.run({ ...put, expectedRevision: at(), strategy: agreed }, "co").kind).toBe("changed");
    const broken = { strategy: { kind: "vendor", expression: "", vendor: "" }, source: "operator" } as const;
    expect(desk.run({ ...put, expectedRevision: at(), strategy: broken }, "op").kind).toBe("invalid");
  });

  it("keeps a conflict with the time it was first seen, and clears it", () => {
    const desk = new Desk();
    const conflict = { sides: [{ strategy: strategy("vendor"), candidates: ["a"] }] };
    desk.run({ ...put, expectedRevision: 0n, strategy: undefined, conflict }, "co");
    const since = desk.record(lease).conflict?.since;
    desk.advance(10);
    desk.run({ ...put, expectedRevision: desk.record(lease).revision.sequence, strategy: undefined, conflict }, "co");
    expect(desk.record(lease).conflict?.since).toBe(since);
    desk.run({ ...put, expectedRevision: desk.record(lease).revision.sequence, strategy: undefined }, "co");
    expect(desk.record(lease).conflict).toBeUndefined();
  });

  it("cannot be put on a name that is illegal, or whose deleted term may still act", () => {
    const desk = new Desk();
    expect(desk.run({ ...put, lease: "billing/No", expectedRevision: 0n, strategy: undefined }, "co").kind).toBe(
      "invalid",
    );
    desk.take("z", lease);
    desk.run({ kind: "delete", lease, expectedRevision: undefined, expectedUid: undefined }, "op");
    expect(desk.run({ ...put, expectedRevision: 0n, strategy: undefined }, "co").kind).toBe("tombstone");
  });

  it("decisions are kept in bounded number, newest last, by id", () => {
    const desk = new Desk();
    const body = new Uint8Array([1]);
    for (let n = 0; n < 10; n++) desk.run({ kind: "recordDecision", lease, id: `d${n}`, body }, "co");
    expect(desk.record(lease).decisions?.map(({ id }) => id)).toEqual(["d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9"]);
    desk.run({ kind: "recordDecision", lease, id: "d5", body: new Uint8Array([2]) }, "co");
    expect(desk.record(lease).decisions?.at(-1)).toMatchObject({ id: "d5", body: new Uint8Array([2]) });
    const huge = { kind: "recordDecision", lease, id: "x", body: new Uint8Array(65_537) } as const;
    expect(desk.run(huge, "co")).toMatchObject({ kind: "limitExceeded", limit: "decisionBytes" });
  });
});
