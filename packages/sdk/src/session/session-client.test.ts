import {
  GuardServicePutRequest,
  GuardServicePutResponse,
  LeaseServiceGetRequest,
  LeaseServiceGetResponse,
  LeaseServiceWatchRequest,
  LeaseServiceWatchResponse,
} from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { sessionUnderTest } from "../testing/session-under-test.ts";

const get = LeaseServiceGetRequest.create({ lease: { namespace: "tests", name: "x" } });
const answer = (revision: bigint) => LeaseServiceGetResponse.encode({ lease: undefined, revision }).finish();
const unavailable = 14;
const appliedNo = 1;
const appliedUnknown = 2;

describe("calls", () => {
  it("of one turn travel in one message, after the greeting was returned", async () => {
    const { session, transport, clock } = await sessionUnderTest({ isConnected: false });
    const calls = [1, 2, 3].map(() => session.call("LeaseService.Get", get));
    await clock.advance(0);
    expect(transport.last.sent).toHaveLength(1);
    expect(transport.last.sent[0]?.hello?.clientId).toBe("client");
    transport.last.welcome();
    await clock.advance(0);
    expect(session.principal).toBe("tester");
    expect(transport.last.sent).toHaveLength(2);
    expect(transport.last.calls.map(({ number, method }) => [number, method])).toEqual([
      [1n, "LeaseService.Get"],
      [2n, "LeaseService.Get"],
      [3n, "LeaseService.Get"],
    ]);
    for (const { number } of transport.last.calls) transport.last.reply(number, answer(number * 10n));
    expect((await Promise.all(calls)).map(({ revision }) => revision)).toEqual([10n, 20n, 30n]);
  });

  it("that promises lead to in the same turn travel with them", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    void session.call("LeaseService.Get", get);
    void Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => session.call("LeaseService.Get", get));
    await clock.advance(0);
    expect(transport.last.sent.at(-1)?.calls).toHaveLength(2);
  });

  it("are answered once: an answer to a number that is over is dropped", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const call = session.call("LeaseService.Get", get);
    await clock.advance(0);
    transport.last.reply(1n, answer(1n));
    transport.last.reply(1n, answer(2n));
    transport.last.fail(1n, unavailable, "NO_OWNER");
    expect((await call).revision).toBe(1n);
  });

  it("end at their timeout, are cancelled at the server, and say whether a change may have happened", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const put = session.call("GuardService.Put", GuardServicePutRequest.create({}), { timeoutMs: 1_000 });
    const read = session.call("LeaseService.Get", get, { timeoutMs: 1_000 });
    const failures = Promise.allSettled([put, read]);
    await clock.advance(0);
    expect(transport.last.calls.map(({ timeout }) => timeout)).toEqual([
      { seconds: 1n, nanos: 0 },
      { seconds: 1n, nanos: 0 },
    ]);
    await clock.advance(1_000);
    expect(await failures).toMatchObject([
      { reason: { code: "DEADLINE_EXCEEDED", applied: "UNKNOWN" } },
      { reason: { code: "DEADLINE_EXCEEDED", applied: undefined } },
    ]);
    expect(transport.last.sent.flatMap(({ cancels }) => cancels)).toEqual([1n, 2n]);
  });

  it("that were never sent surely did not happen", async () => {
    const { session, clock } = await sessionUnderTest({ isConnected: false });
    const put = session.call("GuardService.Put", GuardServicePutRequest.create({}), { timeoutMs: 1_000 });
    const failure = expect(put).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED", applied: "NO" });
    await clock.advance(1_000);
    await failure;
  });

  it("that read carry the highest revision that was seen as their floor, also to the next server", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const floorOf = (request: Uint8Array | undefined) =>
      LeaseServiceGetRequest.decode(request ?? new Uint8Array(0)).read?.minRevision;
    const first = session.call("LeaseService.Get", get);
    await clock.advance(0);
    expect(floorOf(transport.last.calls[0]?.request)).toBeUndefined();
    transport.last.reply(1n, answer(41n));
    await first;
    const put = session.change("GuardService.Put", (attempt) => GuardServicePutRequest.create({ attempt }));
    await clock.advance(0);
    transport.last.reply(2n, GuardServicePutResponse.encode({ revision: 57n }).finish());
    await put;
    const second = session.call("LeaseService.Get", get);
    await clock.advance(0);
    expect(floorOf(transport.last.calls[2]?.request)).toBe(57n);
    transport.last.reply(3n, answer(50n));
    await second;
    transport.last.break();
    await clock.advance(5_000);
    expect(transport.last.sent[0]?.hello?.minRevision).toBe(57n);
  });

  it("are given up at once when their signal is aborted, also before they begin", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const stop = new AbortController();
    const call = session.call("LeaseService.Get", get, { signal: stop.signal });
    const failure = expect(call).rejects.toMatchObject({ name: "TenureError", code: "CANCELLED", cause: "why" });
    await clock.advance(0);
    stop.abort("why");
    await failure;
    await clock.advance(0);
    expect(transport.last.sent.at(-1)?.cancels).toEqual([1n]);
    await expect(session.call("LeaseService.Get", get, { signal: stop.signal })).rejects.toMatchObject({
      code: "CANCELLED",
    });
  });

  it("that only read are asked again after a reconnect; others say that their outcome is unknown", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const read = session.call("LeaseService.Get", get);
    const put = session.call("GuardService.Put", GuardServicePutRequest.create({}));
    const failure = expect(put).rejects.toMatchObject({
      code: "UNAVAILABLE",
      reason: "SESSION_BROKEN",
      applied: "UNKNOWN",
      retryable: true,
    });
    await clock.advance(0);
    transport.last.break();
    await failure;
    await clock.advance(100);
    transport.last.welcome();
    await clock.advance(0);
    expect(transport.streams).toHaveLength(2);
    expect(transport.last.calls.map(({ method }) => method)).toEqual(["LeaseService.Get"]);
    transport.last.reply(transport.last.calls[0]?.number ?? 0n, answer(7n));
    expect((await read).revision).toBe(7n);
  });

  it("that a message or the server's room cannot take wait for the next", async () => {
    const { session, transport, clock } = await sessionUnderTest({ isConnected: false });
    transport.last.welcome({ maxOpenCalls: 3, maxMessageBytes: 600 });
    const calls = Array.from({ length: 5 }, () => session.call("LeaseService.Get", get));
    await clock.advance(0);
    expect(transport.last.sent.map(({ calls: { length } }) => length)).toEqual([0, 3]);
    transport.last.reply(1n, answer(1n));
    await clock.advance(0);
    expect(transport.last.calls).toHaveLength(4);
    for (let number = 2n; number <= 5n; number += 1n) {
      transport.last.reply(number, answer(number));
      await clock.advance(0);
    }
    expect(await Promise.all(calls)).toHaveLength(5);
    const value = new Uint8Array(1_000);
    await expect(session.call("GuardService.Put", GuardServicePutRequest.create({ value }))).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      reason: "PAYLOAD_TOO_LARGE",
      applied: "NO",
    });
  });

  it("that are no message of their method are refused here", async () => {
    const { session } = await sessionUnderTest();
    await expect(session.call("LeaseService.List", { selector: 5 } as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      reason: "MALFORMED_MESSAGE",
    });
    await expect(session.call("LeaseService.Nothing" as "LeaseService.Get", get)).rejects.toMatchObject({
      code: "UNIMPLEMENTED",
      reason: "METHOD_UNKNOWN",
    });
  });

  it("wait while the way is full, and then travel together", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    transport.last.isWritable = false;
    void session.call("LeaseService.Get", get);
    await clock.advance(0);
    const { length } = transport.last.sent;
    for (let turn = 0; turn < 3; turn += 1) {
      void session.call("LeaseService.Get", get);
      await clock.advance(0);
    }
    expect(transport.last.sent).toHaveLength(length);
    transport.last.writable();
    await clock.advance(0);
    expect(transport.last.sent).toHaveLength(length + 1);
    expect(transport.last.sent.at(-1)?.calls).toHaveLength(3);
  });
});

describe("changes", () => {
  const put = (session: Awaited<ReturnType<typeof sessionUnderTest>>["session"]) =>
    session.change("GuardService.Put", (attempt) => GuardServicePutRequest.create({ attempt, key: "k" }));
  const sentAttempts = (calls: readonly { readonly request: Uint8Array }[]) =>
    calls.map(({ request }) => GuardServicePutRequest.decode(request).attempt);
  const done = (revision: bigint) => GuardServicePutResponse.encode({ revision }).finish();

  it("keep their attempt over refusals that pass and over reconnects", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const change = put(session);
    await clock.advance(0);
    transport.last.fail(1n, unavailable, "NO_OWNER", appliedNo);
    await clock.advance(100);
    transport.last.fail(2n, unavailable, "APPEND_UNKNOWN", appliedUnknown);
    await clock.advance(100);
    expect(transport.last.calls).toHaveLength(3);
    const [first] = transport.streams;
    transport.last.break();
    await clock.advance(200);
    transport.last.welcome();
    await clock.advance(0);
    const attempts = [...sentAttempts(first?.calls ?? []), ...sentAttempts(transport.last.calls)];
    expect(attempts).toHaveLength(4);
    expect(new Set(attempts.map((attempt) => `${attempt?.clientId}/${attempt?.number}`)).size).toBe(1);
    transport.last.reply(transport.last.calls[0]?.number ?? 0n, done(9n));
    expect((await change).revision).toBe(9n);
  });

  it("are not sent again after what the store decided, also if it says when to come back", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    for (const [code, reason] of [
      [9, "FENCED"],
      [9, "LOCK_DELAY"],
      [10, "REVISION_CONFLICT"],
      [8, "LIMIT_EXCEEDED"],
    ] as const) {
      const change = put(session);
      const failure = expect(change).rejects.toMatchObject({ reason, applied: "NO" });
      await clock.advance(0);
      const { length } = transport.last.calls;
      transport.last.fail(BigInt(length), code, reason, appliedNo);
      await failure;
      await clock.advance(3_000);
      expect(transport.last.calls).toHaveLength(length);
    }
  });

  it("end with the last refusal when there is no time for another send", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const change = put(session);
    const failure = expect(change).rejects.toMatchObject({ code: "UNAVAILABLE", reason: "NO_OWNER" });
    let isOver = false;
    change.catch(() => {
      isOver = true;
    });
    for (let failed = 0n; !isOver; await clock.advance(10)) {
      if (transport.last.calls.length > failed) transport.last.fail(++failed, unavailable, "NO_OWNER", appliedNo);
    }
    await failure;
    expect(clock.now()).toBeLessThan(105_000);
  });
});

describe("streams", () => {
  const request = LeaseServiceWatchRequest.create({});
  const response = (revision: bigint) =>
    LeaseServiceWatchResponse.encode(LeaseServiceWatchResponse.create({ position: { revision } })).finish();

  it("give what arrived in order, grant credit as it is taken, and are cancelled when their reader leaves", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const revisions: bigint[] = [];
    const reading = (async () => {
      for await (const { position } of session.stream("LeaseService.Watch", request, { credit: 4 })) {
        revisions.push(position?.revision ?? 0n);
        if (revisions.length === 5) break;
      }
    })();
    await clock.advance(0);
    expect(transport.last.calls[0]).toMatchObject({ method: "LeaseService.Watch", credit: 4, timeout: undefined });
    for (let number = 1n; number <= 4n; number += 1n) transport.last.reply(1n, response(number), false);
    await clock.advance(0);
    transport.last.reply(1n, response(5n), false);
    await reading;
    await clock.advance(0);
    expect(revisions).toEqual([1n, 2n, 3n, 4n, 5n]);
    const credits = transport.last.sent.flatMap((message) => message.credits);
    expect(credits.reduce((sum, { responses }) => sum + responses, 0)).toBe(4);
    expect(transport.last.sent.flatMap(({ cancels }) => cancels)).toEqual([1n]);
  });

  it("get one response that came for all of them, decoded once", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const all = Promise.all([1, 2, 3].map(() => collect(session.stream("LeaseService.Watch", request))));
    await clock.advance(0);
    expect(transport.last.sent[0]?.hello?.sharedReplies).toBe(true);
    const outcome = { $case: "response", value: response(7n) } as const;
    transport.last.say({ replies: [{ number: 1n, outcome, end: false, also: [2n, 3n, 99n] }] });
    for (const number of [1n, 2n, 3n]) {
      transport.last.say({ replies: [{ number, outcome: undefined, end: true, also: [] }] });
    }
    const [first, ...others] = await all;
    expect(first?.[0]?.position?.revision).toBe(7n);
    for (const other of others) expect(other).toEqual([first?.[0]]);
  });

  it("end cleanly, or with the failure, after what had arrived", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const clean = collect(session.stream("LeaseService.Watch", request));
    await clock.advance(0);
    transport.last.reply(1n, response(1n), false);
    transport.last.say({ replies: [{ number: 1n, outcome: undefined, end: true, also: [] }] });
    expect(await clean).toHaveLength(1);
    const broken = collect(session.stream("LeaseService.Watch", request));
    const failure = expect(broken).rejects.toMatchObject({ reason: "SESSION_BROKEN", retryable: true });
    await clock.advance(0);
    transport.last.break();
    await failure;
  });
});

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe("the link", () => {
  it("beats every R, and counts its numbers over all streams", async () => {
    const { transport, clock } = await sessionUnderTest();
    await clock.advance(6_000);
    expect(transport.last.sent.map(({ sendNumber }) => sendNumber)).toEqual([1n, 2n, 3n, 4n]);
    transport.last.break();
    await clock.advance(100);
    expect(transport.last.sent[0]?.sendNumber).toBe(5n);
    expect(transport.last.sent[0]?.hello).toBeDefined();
  });

  it("opens another stream when the server is silent, does not greet, or says goodbye", async () => {
    const { session, transport, clock } = await sessionUnderTest({ heartbeatMs: 5_000 });
    const states: string[] = [];
    session.onState((state) => states.push(state));
    await clock.advance(6_999);
    expect(states).toEqual([]);
    await clock.advance(1);
    expect(states).toEqual(["reconnecting"]);
    await clock.advance(100);
    expect(transport.streams).toHaveLength(2);
    await clock.advance(2_100);
    expect(transport.streams.length).toBeGreaterThanOrEqual(3);
    expect(transport.streams.slice(0, -1).every(({ isClosed }) => isClosed)).toBe(true);
    transport.last.welcome();
    await clock.advance(0);
    expect(session.state).toBe("connected");
    const { length } = transport.streams;
    transport.last.say({ goodbye: { reason: "rolling", reconnectAfter: { seconds: 1n, nanos: 0 } } });
    const call = session.call("LeaseService.Get", get);
    await clock.advance(999);
    expect(transport.streams).toHaveLength(length);
    expect(transport.last.calls).toHaveLength(0);
    await clock.advance(1);
    expect(transport.streams).toHaveLength(length + 1);
    transport.last.welcome();
    await clock.advance(0);
    transport.last.reply(1n, answer(3n));
    expect((await call).revision).toBe(3n);
  });

  it("opens another stream when the server receives nothing, however much it says", async () => {
    const { transport, clock } = await sessionUnderTest({ heartbeatMs: 5_000 });
    transport.last.say({ receivedNumber: 1n });
    for (let second = 0; second < 9; second += 1) {
      await clock.advance(1_000);
      transport.last.say({ receivedNumber: 1n });
    }
    await clock.advance(100);
    expect(transport.streams).toHaveLength(2);
    transport.last.welcome({ heartbeatMs: 5_000 });
    for (let second = 0; second < 20; second += 1) {
      await clock.advance(1_000);
      transport.last.say({ receivedNumber: transport.last.sent.at(-1)?.sendNumber ?? 0n });
    }
    expect(transport.streams).toHaveLength(2);
  });

  it("tries again with growing pauses of at most a second", async () => {
    const { transport, clock } = await sessionUnderTest({ isConnected: false });
    const gapsMs: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      const { length } = transport.streams;
      const startMs = clock.now();
      transport.last.break();
      while (transport.streams.length === length) await clock.advance(5);
      gapsMs.push(clock.now() - startMs);
    }
    expect(Math.max(...gapsMs)).toBeLessThanOrEqual(1_005);
    expect(gapsMs[0]).toBeLessThanOrEqual(55);
    expect(gapsMs.at(-1)).toBeGreaterThanOrEqual(500);
  });

  it("gives the first connect up at its bound, at once when it cannot succeed, and when aborted", async () => {
    const first = await sessionUnderTest({ isConnected: false });
    const slow = expect(first.session.connected(3_000)).rejects.toMatchObject({ reason: "UNREACHABLE" });
    await first.clock.advance(3_000);
    await slow;
    const second = await sessionUnderTest({ isConnected: false });
    const refused = expect(second.session.connected(3_000)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    second.transport.last.break("UNAUTHENTICATED");
    await refused;
    const third = await sessionUnderTest({ isConnected: false });
    const stop = new AbortController();
    const aborted = expect(third.session.connected(3_000, stop.signal)).rejects.toMatchObject({ code: "CANCELLED" });
    stop.abort();
    await aborted;
  });

  it("closes with everything that is open, leaves no timer, and refuses what comes later", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const states: string[] = [];
    session.onState((state) => states.push(state));
    const call = session.call("LeaseService.Get", get);
    const failure = expect(call).rejects.toMatchObject({ code: "CANCELLED", reason: "SESSION_CLOSED" });
    await clock.advance(0);
    const { last } = transport;
    await session[Symbol.asyncDispose]();
    await session[Symbol.asyncDispose]();
    await failure;
    expect(last.sent.at(-1)?.closing).toBe(true);
    expect(last.isClosed).toBe(true);
    expect(transport.isDisposed).toBe(true);
    expect(states).toEqual(["closed"]);
    expect(clock.pendingTimers).toBe(0);
    await expect(session.call("LeaseService.Get", get)).rejects.toMatchObject({ reason: "SESSION_CLOSED" });
  });
});
