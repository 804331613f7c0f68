import { ChangeKind, Lease, LeaseServiceWatchResponse, TermEndReason, WatchMarkKind } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { TenureError } from "../errors.ts";
import { clientUnderTest } from "../testing/client-under-test.ts";
import { unavailable } from "../testing/scripted-session.ts";
import type { Observation } from "./observation.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A record that somebody holds, or nobody. */
function record(holder?: string, token = 0n, more: object = {}): Lease {
  const holds = holder === undefined ? [] : [{ holder, token, value: bytes(`address of ${holder}`) }];
  return Lease.fromPartial({ key: { namespace: "a", name: "b" }, holds, lastToken: token, ...more });
}

function response(
  token: string,
  leases: readonly Lease[],
  mark?: WatchMarkKind,
  kind: ChangeKind = ChangeKind.CHANGED,
) {
  return LeaseServiceWatchResponse.fromPartial({
    events: leases.map((lease) => ({ kind, lease })),
    position: { resumeToken: bytes(token), ...(mark === undefined ? {} : { mark: { kind: mark } }) },
  });
}

/** A watch whose streams the test writes: each is a list of responses and of what ends it. */
function watched(streams: readonly (readonly (LeaseServiceWatchResponse | Error)[])[]) {
  const test = clientUnderTest();
  const tokens: string[] = [];
  let opened = 0;
  test.session.streaming = ({ request }) => {
    tokens.push(new TextDecoder().decode((request as { options: { resumeToken: Uint8Array } }).options.resumeToken));
    const parts = streams[opened] ?? [];
    opened += 1;
    return (async function* () {
      for (const part of parts) {
        if (part instanceof Error) throw part;
        yield part;
      }
      await new Promise(() => undefined);
    })();
  };
  return { ...test, tokens };
}

/** The first observations, with time moving on as the watch asks for it. */
async function first(count: number, test: ReturnType<typeof watched>): Promise<readonly Observation[]> {
  const seen: Observation[] = [];
  const observing = (async () => {
    for await (const observation of test.client.observe("a/b")) {
      seen.push(observation);
      if (seen.length === count) return;
    }
  })();
  for (let round = 0; round < 50 && seen.length < count; round += 1) await test.session.clock.advance(1_000);
  await observing;
  return seen;
}

const synced = (token: string, lease: readonly Lease[]) =>
  response(token, lease, WatchMarkKind.SYNCED, ChangeKind.PRESENT);

describe("observing a lease", () => {
  it("tells the leader with its address and token, its asked-for end, and the vacancy after it", async () => {
    const test = watched([
      [
        synced("1", [record("x", 5n)]),
        response("2", [record("x", 5n, { endOfTerm: { preferredHolder: "y", token: 5n } })]),
        response("3", [record(undefined, 5n, { lastEndReason: TermEndReason.RELEASED })]),
        response("4", [record("me", 6n)]),
      ],
    ]);
    expect(await first(4, test)).toMatchObject([
      { kind: "leader", holder: "x", token: 5n, value: bytes("address of x"), successor: undefined, isSelf: false },
      { kind: "leader", holder: "x", token: 5n, successor: "y" },
      { kind: "vacant", lastToken: 5n, why: "RELEASED" },
      { kind: "leader", holder: "me", token: 6n, isSelf: true },
    ]);
  });

  it("says nothing before the present state is complete, and tells a name that does not exist as vacant", async () => {
    const test = watched([[synced("1", [])]]);
    expect(await first(1, test)).toEqual([
      { kind: "vacant", lease: { namespace: "a", name: "b" }, lastToken: 0n, why: undefined },
    ]);
  });

  it("tells a removed lease as vacant", async () => {
    const test = watched([
      [synced("1", [record("x", 5n)]), response("2", [record("x", 5n)], undefined, ChangeKind.REMOVED)],
    ]);
    expect((await first(2, test))[1]).toMatchObject({ kind: "vacant", lastToken: 5n });
  });

  it("resumes after a break with its last token, and tells nothing twice", async () => {
    const test = watched([
      [synced("1", [record("x", 5n)]), response("2", []), unavailable()],
      [unavailable()],
      [response("3", [record("x", 5n)]), response("4", [record("y", 6n)])],
    ]);
    const seen = await first(2, test);
    expect(seen.map((one) => one.kind === "leader" && one.holder)).toEqual(["x", "y"]);
    expect(test.tokens).toEqual(["", "2", "2"]);
  });

  it("starts over when it broke within the present state, or when its token is too old", async () => {
    const tooOld = new TenureError({ code: "OUT_OF_RANGE", reason: "RESUME_TOKEN_TOO_OLD", message: "too old" });
    const test = watched([
      [response("", [record("w", 4n)], undefined, ChangeKind.PRESENT), unavailable()],
      [synced("1", [record("x", 5n)]), tooOld],
      [synced("9", [record("y", 6n)])],
    ]);
    const seen = await first(2, test);
    expect(seen.map((one) => one.kind === "leader" && one.holder)).toEqual(["x", "y"]);
    expect(test.tokens).toEqual(["", "", ""]);
  });

  it("forgets what it knew at a resync mark and tells only what differs after it", async () => {
    const test = watched([
      [
        synced("1", [record("x", 5n)]),
        response("2", [], WatchMarkKind.RESYNC),
        synced("3", [record("x", 5n)]),
        response("4", [], WatchMarkKind.RESYNC),
        synced("5", []),
      ],
    ]);
    expect((await first(2, test)).map(({ kind }) => kind)).toEqual(["leader", "vacant"]);
  });

  it("ends with the error when no further try can mend it", async () => {
    const denied = new TenureError({ code: "PERMISSION_DENIED", reason: "NOT_ALLOWED", message: "no" });
    const { client } = watched([[denied]]);
    await expect(client.observe("a/b").next()).rejects.toBe(denied);
  });

  it("ends when the client closes", async () => {
    const test = watched([[synced("1", [record("x", 5n)]), unavailable()]]);
    const observing = test.client.observe("a/b");
    await observing.next();
    const next = observing.next();
    await test.client.close();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it("tells a listener of new leaders until it is stopped", async () => {
    const test = watched([[synced("1", [record("x", 5n)]), response("2", [record("y", 6n)])]]);
    const told: string[] = [];
    const stop = test.client.onNewLeader("a/b", (holder) => told.push(holder));
    await test.session.clock.advance(0);
    stop();
    expect(told).toEqual(["x", "y"]);
  });
});
