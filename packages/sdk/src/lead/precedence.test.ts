import { ChangeKind, Grant, Lease, LeaseServiceWatchResponse, WatchMarkKind } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { clientUnderTest } from "../testing/client-under-test.ts";
import type { LeadOptions } from "./lead.ts";

/** A client that campaigns, and a lease whose record the test writes. */
function campaigning(options: LeadOptions) {
  const test = clientUnderTest();
  const { session } = test;
  let write: (holder: string, holderKey: string, revision: bigint) => void = () => undefined;
  session.streaming = () => ({
    async *[Symbol.asyncIterator]() {
      for (;;) {
        yield await new Promise<LeaseServiceWatchResponse>((resolve) => {
          write = (holder, holderKey, revision) => {
            const lease = Lease.fromPartial({ revision, holds: [{ holder, holderKey, token: revision }] });
            const position = { mark: { kind: WatchMarkKind.SYNCED } };
            const events = [{ kind: ChangeKind.CHANGED, lease }];
            resolve(LeaseServiceWatchResponse.fromPartial({ events, position }));
          };
        });
      }
    },
  });
  const tokens: bigint[] = [];
  const stop = new AbortController();
  const over = test.client.lead("a/b", { ...options, signal: stop.signal }, async (term) => {
    tokens.push(term.token);
    await new Promise((resolve) => term.signal.addEventListener("abort", resolve, { once: true }));
  });
  return {
    ...test,
    tokens,
    keys: () => session.claims.map(({ request }) => request.supersedesKey),
    async hold(holder: string, key: string, revision: bigint) {
      write(holder, key, revision);
      await session.clock.advance(0);
    },
    async end() {
      stop.abort();
      await session.clock.advance(0);
      await over;
    },
  };
}

describe("precedence by key (KEP-2835)", () => {
  it("[106] gives the comparison the holder's key, empty from an old client, and claims before it if that says so", async () => {
    const seen: string[] = [];
    const keyComparison = (existing: string) => {
      seen.push(existing);
      return existing !== "c";
    };
    const test = campaigning({ holderKey: "b", keyComparison });
    await test.session.clock.advance(0);
    expect(test.keys()).toEqual([undefined]);
    await test.hold("old", "", 7n);
    expect(test.keys(), "an old client is gone before").toEqual([undefined, ""]);
    expect(test.session.claims[0]?.options.signal?.aborted).toBe(true);
    await test.hold("other", "", 8n);
    expect(test.keys(), "the claim holds for every holder with that key").toHaveLength(2);
    await test.hold("better", "c", 9n);
    await test.hold("me", "b", 10n);
    expect(test.keys(), "nothing is claimed before a better one or itself").toHaveLength(2);
    await test.hold("worse", "a", 11n);
    expect(test.keys()).toEqual([undefined, "", "a"]);
    expect(new Set(seen)).toEqual(new Set(["", "c", "a"]));
    test.session.lastClaim.grant();
    await test.session.clock.advance(0);
    expect(test.tokens).toHaveLength(1);
    await test.end();
  });

  it.each([
    ["highestVersion", "1.20.0", ["", "1.9.0"], ["1.20.0", "1.21.0"]],
    ["lowestVersion", "1.20.0", ["", "1.21.0"], ["1.20.0", "1.9.0"]],
    ["highestNumber", "10", ["", "9"], ["10", "11"]],
  ] as const)("has the built-in order %s", async (keyComparison, holderKey, before, behind) => {
    const test = campaigning({ holderKey, keyComparison });
    await test.session.clock.advance(0);
    let revision = 0n;
    for (const key of [...behind, ...before]) await test.hold(`with ${key}`, key, ++revision);
    expect(test.keys()).toEqual([undefined, ...before]);
    await test.end();
  });

  it("[105] steals only on request, at the revision that it saw, with a deadline from before the send", async () => {
    const test = campaigning({ holderKey: "2", keyComparison: "highestNumber", takeOver: "steal" });
    test.session.answer = async ({ request }) => ({
      grant: Grant.fromPartial({ ...(request as object), hold: { holdId: 5n, token: 50n, holder: "me" } }),
    });
    await test.session.clock.advance(0);
    await test.hold("old", "1", 7n);
    expect(test.session.asked.at(-1)).toMatchObject({
      method: "LeaseService.Steal",
      request: {
        expectedRevision: 7n,
        claimant: { holder: "me", holderKey: "2" },
        note: { reason: "its key 2 goes before 1" },
      },
    });
    expect(test.tokens).toEqual([50n]);
    expect(test.session.lastKept.hold.provenAtMs).toBe(test.session.clock.now());
    await test.end();
  });

  it("goes on trying when the comparison throws, and says so", async () => {
    const keyComparison = () => {
      throw new Error("cannot compare");
    };
    const test = campaigning({ keyComparison });
    await test.session.clock.advance(0);
    await test.hold("old", "1", 7n);
    expect(test.events.at(-1)).toMatchObject({ kind: "claim-failed", error: { message: "cannot compare" } });
    await test.end();
  });

  it("is refused beside a coordinator, which ranks by what candidates say", async () => {
    const { client } = clientUnderTest();
    const coordinated = { binaryVersion: "1.0.0" };
    const lead = (options: LeadOptions) => client.lead("a/b", options, () => undefined);
    await expect(lead({ coordinated, keyComparison: "highestNumber" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      details: { field: "keyComparison" },
    });
    await expect(lead({ takeOver: "force" as "ask" })).rejects.toMatchObject({ details: { field: "takeOver" } });
  });
});
