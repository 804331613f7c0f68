import { describe, expect, it } from "vitest";
import type { CommandOf } from "../partition/command.ts";
import { register } from "../testing/candidates.ts";
import { claimOf, Desk } from "../testing/desk.ts";

const lease = "billing/scheduler";
const bytes = (...values: number[]) => new Uint8Array(values);

function put(token: bigint, key = "k", value: Uint8Array | undefined = bytes(1)): CommandOf<"guard"> {
  return { kind: "guard", lease, token, comparisons: [], changes: [{ key, value }], principal: "a" };
}

describe("guarded writes (rule 22)", () => {
  it("[38] accepts the current token and holder, and fences an older one before the new leader's first write", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    expect(desk.batch(put(token))[0]).toMatchObject({ kind: "guardedChanged", existed: false });
    expect(desk.record(lease).guarded?.get("k")).toMatchObject({ value: bytes(1), token, holder: "a" });
    desk.advance(15_000);
    const { token: newer } = desk.take("b", lease);
    expect(desk.batch(put(token, "k", bytes(2)))[0]).toEqual({ kind: "fenced", lease, holder: "b", token: newer });
    expect(desk.record(lease).guarded?.get("k")?.value).toEqual(bytes(1));
    expect(desk.batch({ ...put(newer, "k", bytes(3)), principal: "b" })[0]?.kind).toBe("guardedChanged");
  });

  it("[38] decides write and grant of one batch in their order", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.advance(15_000);
    const replies = desk.batch(put(token, "before"), claimOf("b", lease), put(token, "after"));
    expect(replies.map(({ kind }) => kind)).toEqual(["guardedChanged", "granted", "fenced"]);
    expect([...(desk.record(lease).guarded?.keys() ?? [])]).toEqual(["before"]);
  });

  it("[38] fences an older token as soon as a choice is pending", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.run({ kind: "release", items: [{ lease, token }] }, "a");
    expect(desk.batch(put(token))[0]?.kind).toBe("notHolder");
    register(desk, lease, "b");
    const expectedRevision = desk.record(lease).revision.sequence;
    desk.run({ kind: "elect", lease, expectedRevision, candidate: "b", coordinator: "co" }, "co");
    expect(desk.batch(put(token))[0]).toMatchObject({ kind: "fenced", token: desk.record(lease).pending?.token });
  });

  it("are refused from another principal, with a token never given, for no lease and without the secret", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease, { claimant: { holder: "a", renewKeyHash: "ff" } });
    const write = put(token);
    expect(desk.batch({ ...write, principal: "b" })[0]?.kind).toBe("principalMismatch");
    expect(desk.batch({ ...write, token: token + 1n })[0]?.kind).toBe("notHolder");
    expect(desk.batch({ ...write, lease: "x/y" })[0]?.kind).toBe("leaseNotFound");
    expect(desk.batch(write)[0]?.kind).toBe("renewKeyMismatch");
    expect(desk.batch({ ...write, renewKeyHash: "ff" })[0]?.kind).toBe("guardedChanged");
  });

  it("need an exclusive hold", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease, { claim: { mode: "shared" } });
    expect(desk.batch(put(token))[0]).toEqual({ kind: "exclusiveHoldRequired", lease });
  });

  it("happen all or none, if every comparison holds", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    desk.batch(put(token, "x", bytes(1)));
    const revision = desk.sequence;
    const change = {
      ...put(token),
      changes: [
        { key: "x", value: undefined },
        { key: "y", value: bytes(2) },
      ],
    };
    const attempt = (comparisons: CommandOf<"guard">["comparisons"]) => desk.batch({ ...change, comparisons })[0];
    expect(attempt([{ key: "x", revisionIs: 1n }])).toEqual({ kind: "comparisonFailed", lease, key: "x", revision });
    expect(attempt([{ key: "y", revisionIs: revision }])).toMatchObject({
      kind: "comparisonFailed",
      key: "y",
      revision: 0n,
    });
    expect(attempt([{ key: "x", valueIs: bytes(2) }])?.kind).toBe("comparisonFailed");
    expect(attempt([{ key: "x", valueIs: bytes(1, 2) }])?.kind).toBe("comparisonFailed");
    expect(attempt([{ key: "y", valueIs: bytes() }])?.kind).toBe("comparisonFailed");
    expect([...(desk.record(lease).guarded?.keys() ?? [])]).toEqual(["x"]);
    const good = [
      { key: "x", revisionIs: revision },
      { key: "x", valueIs: bytes(1) },
      { key: "y", revisionIs: 0n },
    ];
    expect(attempt(good)).toMatchObject({ kind: "guardedChanged", existed: true });
    expect([...(desk.record(lease).guarded?.keys() ?? [])]).toEqual(["y"]);
  });

  it("of the same batch conflict with every expected revision", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const second = { ...put(token), comparisons: [{ key: "k", revisionIs: 0n }] };
    expect(desk.batch(put(token), second).map(({ kind }) => kind)).toEqual(["guardedChanged", "comparisonFailed"]);
  });

  it("delete a key, which is no error if it is not there", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    const removal = { ...put(token), changes: [{ key: "k", value: undefined }] };
    expect(desk.batch(removal)[0]).toEqual({ kind: "guardedChanged", lease, existed: false, position: undefined });
    desk.batch(put(token));
    expect(desk.batch(removal)[0]).toMatchObject({ existed: true });
    expect(desk.record(lease).guarded).toBeUndefined();
  });

  it.each([
    ["guardedValueBytes", [{ key: "k", value: new Uint8Array(16_385) }]],
    ["guardedTransactionBytes", Array.from({ length: 5 }, (_, n) => ({ key: `k${n}`, value: new Uint8Array(16_384) }))],
    ["guardedTransactionOperations", Array.from({ length: 33 }, (_, n) => ({ key: `k${n}`, value: bytes() }))],
  ] as const)("are limited by %s", (limit, changes) => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    expect(desk.batch({ ...put(token), changes })[0]).toMatchObject({ kind: "limitExceeded", limit });
  });

  it("are limited in keys per lease, counting what the same step deletes", () => {
    const desk = new Desk();
    const { settings } = desk.state;
    desk.run(
      { kind: "changeSettings", settings: { ...settings, limits: { ...settings.limits, guardedKeysPerLease: 2 } } },
      "o",
    );
    const { token } = desk.take("a", lease);
    desk.batch(put(token, "a"), put(token, "b"));
    expect(desk.batch(put(token, "c"))[0]).toEqual({ kind: "limitExceeded", limit: "guardedKeysPerLease", value: 2 });
    expect(desk.batch(put(token, "a", bytes(9)))[0]?.kind).toBe("guardedChanged");
    const swap = {
      ...put(token),
      changes: [
        { key: "a", value: undefined },
        { key: "c", value: bytes(1) },
      ],
    };
    expect(desk.batch(swap)[0]?.kind).toBe("guardedChanged");
  });

  it("refuse malformed, repeated and missing keys", () => {
    const desk = new Desk();
    const { token } = desk.take("a", lease);
    expect(desk.batch(put(token, "a b"))[0]?.kind).toBe("invalid");
    expect(desk.batch({ ...put(token), changes: [] })[0]?.kind).toBe("invalid");
    const change = { key: "k", value: bytes() };
    expect(desk.batch({ ...put(token), changes: [change, change] })[0]?.kind).toBe("invalid");
    expect(desk.batch({ ...put(token), comparisons: [{ key: "", revisionIs: 0n }] })[0]?.kind).toBe("invalid");
  });
});
