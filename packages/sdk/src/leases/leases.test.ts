import { ReadConsistency } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { clientUnderTest } from "../testing/client-under-test.ts";
import { refusal, unavailable } from "../testing/scripted-session.ts";

describe("records of leases", () => {
  it("are read linearizably unless asked for less", async () => {
    const { client, session } = clientUnderTest();
    session.answer = async () => ({ lease: { uid: "one" }, revision: 1n });
    expect(await client.leases.get("a/b")).toEqual({ uid: "one" });
    await client.leases.get("b", { consistency: "plain" });
    expect(session.asked).toMatchObject([
      { request: { lease: { namespace: "a", name: "b" }, read: { consistency: ReadConsistency.LINEARIZABLE } } },
      { request: { lease: { namespace: "tests", name: "b" }, read: { consistency: ReadConsistency.PLAIN } } },
    ]);
  });

  it("that do not exist are undefined", async () => {
    const { client, session } = clientUnderTest();
    session.answer = () => Promise.reject(refusal("LEASE_NOT_FOUND"));
    expect(await client.leases.get("a/b")).toBeUndefined();
  });

  it("are read again while the store is away, until the time is over", async () => {
    const { client, session } = clientUnderTest();
    const reading = client.leases.get("a/b", { timeout: "2s" });
    await session.clock.advance(0);
    await session.clock.advance(1_000);
    expect(session.asked.length).toBeGreaterThan(3);
    session.answer = async () => ({ lease: { uid: "one" } });
    await session.clock.advance(1_000);
    expect(await reading).toEqual({ uid: "one" });
    session.answer = () => Promise.reject(unavailable());
    const failing = expect(client.leases.get("a/b")).rejects.toMatchObject({ reason: "UNREACHABLE" });
    await session.clock.advance(0);
    await session.clock.advance(5_000);
    await failing;
  });

  it("are not read again after an error that no retry mends, or when the caller gives up", async () => {
    const { client, session } = clientUnderTest();
    session.answer = () => Promise.reject(refusal("FORMAT_TOO_NEW"));
    await expect(client.leases.get("a/b")).rejects.toMatchObject({ reason: "FORMAT_TOO_NEW" });
    expect(session.asked).toHaveLength(1);
    session.answer = () => Promise.reject(unavailable());
    const stop = new AbortController();
    const failing = expect(client.leases.get("a/b", { signal: stop.signal })).rejects.toMatchObject({
      reason: "UNREACHABLE",
    });
    await session.clock.advance(0);
    stop.abort();
    await failing;
  });

  it("are listed and their history read page by page", async () => {
    const { client, session } = clientUnderTest();
    const pageOf = (request: unknown) => (request as { page: { token: string } }).page.token;
    session.answer = async ({ request }) =>
      pageOf(request) === ""
        ? { leases: [{ uid: "1" }], transitions: [{ holder: "x" }], page: { nextToken: "2" } }
        : { leases: [{ uid: "2" }], transitions: [{ holder: "y" }], page: { nextToken: "" } };
    const uids: string[] = [];
    for await (const { uid } of client.leases.list({ namespace: "a", namePrefix: "b" })) uids.push(uid);
    expect(uids).toEqual(["1", "2"]);
    expect(session.asked[0]).toMatchObject({ request: { selector: { namespace: "a", namePrefix: "b" } } });
    const holders: string[] = [];
    for await (const { holder } of client.leases.history("a/b")) holders.push(holder);
    expect(holders).toEqual(["x", "y"]);
  });

  it.each([
    [[false, false], false],
    [[false, true], true],
    [[true, false], true],
  ])("the pages of a history say %j of what was dropped, so its end says %j", async (pages, isTruncated) => {
    const { client, session } = clientUnderTest();
    let asked = 0;
    session.answer = async () => {
      const truncated = pages[asked++] ?? false;
      return { transitions: [{ holder: "x" }], page: { nextToken: asked < pages.length ? "next" : "" }, truncated };
    };
    const history = client.leases.history("a/b");
    let step = await history.next();
    while (step.done !== true) step = await history.next();
    expect(step.value).toEqual({ isTruncated });
  });

  it("are created, changed, deleted and revoked by attempts, with the revision that was seen", async () => {
    const { client, session } = clientUnderTest();
    session.answer = async () => ({ lease: { uid: "one" } });
    await client.leases.create("a/b", { labels: { team: "blue" } });
    await client.leases.update("a/b", { expectedRevision: 3n, spec: { labels: {} }, fields: ["labels"] });
    await client.leases.delete("a/b", { expectedRevision: 4n });
    await client.leases.revoke("a/b", { expectedRevision: 5n, reason: "for the test" });
    expect(session.asked).toMatchObject([
      { method: "LeaseService.Create", request: { attempt: { number: 1n }, spec: { labels: { team: "blue" } } } },
      { method: "LeaseService.Update", request: { expectedRevision: 3n, updateMask: ["labels"] } },
      { method: "LeaseService.Delete", request: { expectedRevision: 4n } },
      { method: "LeaseService.Revoke", request: { expectedRevision: 5n, note: { reason: "for the test" } } },
    ]);
  });
});
