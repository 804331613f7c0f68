import { describe, expect, it } from "vitest";
import { clientUnderTest } from "../testing/client-under-test.ts";
import { refusal } from "../testing/scripted-session.ts";

async function guarded(answer: unknown) {
  const test = clientUnderTest();
  const taking = test.client.lock("jobs/one");
  test.session.lastClaim.grant();
  const term = await taking;
  test.session.answer = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer));
  return { ...test, term, asked: () => test.session.asked.at(-1) };
}

const fence = { lease: { namespace: "jobs", name: "one" }, token: 41n, renewKey: new Uint8Array([1, 2, 3]) };

describe("guarded data", () => {
  it("is written under the term's lease, token and secret", async () => {
    const { term, asked } = await guarded({ revision: 7n });
    expect(await term.guard.put("state", "on", { expectedRevision: 0n })).toBe(7n);
    expect(asked()).toMatchObject({
      method: "GuardService.Put",
      request: {
        fence,
        key: "state",
        value: new TextEncoder().encode("on"),
        expectedRevision: 0n,
        attempt: { number: 1n },
      },
    });
  });

  it("is deleted, and says whether it was there", async () => {
    const { term, asked } = await guarded({ deleted: true, revision: 8n });
    expect(await term.guard.delete("state")).toBe(true);
    expect(asked()).toMatchObject({ method: "GuardService.Delete", request: { fence, key: "state" } });
  });

  it("is changed in one piece, if all conditions hold", async () => {
    const { term, asked } = await guarded({ revision: 9n });
    const revision = await term.guard.transaction({
      if: [
        { key: "a", revisionIs: 0n },
        { key: "b", valueIs: "old" },
      ],
      put: { a: "1" },
      delete: ["b"],
    });
    expect(revision).toBe(9n);
    expect(asked()).toMatchObject({
      method: "GuardService.Transact",
      request: {
        comparisons: [
          { key: "a", condition: { $case: "revisionIs", value: 0n } },
          { key: "b", condition: { $case: "valueIs" } },
        ],
        operations: [
          { operation: { $case: "put", value: { key: "a" } } },
          { operation: { $case: "delete", value: "b" } },
        ],
      },
    });
  });

  it("is read as text or bytes, and is undefined where there is none", async () => {
    const value = { key: "state", value: new TextEncoder().encode("on"), revision: 7n, token: 41n, holder: "me" };
    const { term, session } = await guarded({ value, revision: 9n });
    expect(await term.guard.get("state")).toMatchObject({ text: "on", revision: 7n, token: 41n });
    session.answer = () => Promise.reject(refusal("GUARDED_KEY_NOT_FOUND"));
    expect(await term.guard.get("state")).toBeUndefined();
    session.answer = () => Promise.reject(refusal("NOT_READY"));
    await expect(term.guard.get("state")).rejects.toMatchObject({ reason: "NOT_READY" });
  });

  it("is listed page by page", async () => {
    const { term, session } = await guarded({});
    const entry = (key: string) => ({ key, value: new Uint8Array(), revision: 1n, token: 1n, holder: "me" });
    session.answer = async ({ request }) =>
      (request as { page: { token: string } }).page.token === ""
        ? { values: [entry("a"), entry("b")], page: { nextToken: "more" } }
        : { values: [entry("c")], page: { nextToken: "" } };
    const keys: string[] = [];
    for await (const { key } of term.guard.list({ prefix: "x" })) keys.push(key);
    expect(keys).toEqual(["a", "b", "c"]);
  });

  it("is not even sent after the deadline, nor waited for beyond it", async () => {
    const { term, session, asked } = await guarded({ revision: 1n });
    await session.clock.advance(600);
    await term.guard.put("state", "on", { timeout: "5s" });
    expect(asked()?.options).toMatchObject({ timeoutMs: 500 });
    const now = session.clock.now();
    session.clock.now = () => now + 500;
    const count = session.asked.length;
    await expect(term.guard.put("state", "late")).rejects.toMatchObject({ reason: "TERM_OVER" });
    expect(session.asked).toHaveLength(count);
  });

  it("refused as fenced ends the term before any renewal says so", async () => {
    const { term } = await guarded(refusal("FENCED"));
    await expect(term.guard.put("state", "on")).rejects.toMatchObject({ reason: "FENCED" });
    expect(term.signal.reason?.end).toMatchObject({ kind: "preempted", how: "fenced" });
    expect(() => term.check()).toThrow("fenced");
  });

  it("refused for its own sake leaves the term alone", async () => {
    const { term } = await guarded(refusal("REVISION_CONFLICT"));
    await expect(term.guard.put("state", "on", { expectedRevision: 3n })).rejects.toMatchObject({
      reason: "REVISION_CONFLICT",
    });
    term.check();
  });
});
