import {
  Claimant,
  Grant,
  LeaseClaim,
  LeaseServiceAcceptRequest,
  LeaseServiceAcceptResponse,
  LeaseServiceAcquireRequest,
  LeaseServiceAcquireResponse,
  LeaseServiceReleaseRequest,
  LeaseServiceReleaseResponse,
  TermEndReason,
} from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { TenureError } from "../errors.ts";
import type { ScriptedStream } from "../testing/scripted-transport.ts";
import { sessionUnderTest } from "../testing/session-under-test.ts";

const lease = { namespace: "tests", name: "x" };
const request = { claims: [LeaseClaim.create({ lease })], claimant: Claimant.create({ holder: "a" }) };
const failedPrecondition = 9;
const unavailable = 14;
const appliedNo = 1;
const appliedUnknown = 2;

function acquires(stream: ScriptedStream) {
  const calls = stream.calls.filter(({ method }) => method === "LeaseService.Acquire");
  return calls.map(({ number, request: bytes }) => ({ number, ...LeaseServiceAcquireRequest.decode(bytes) }));
}

function releases(stream: ScriptedStream) {
  const calls = stream.calls.filter(({ method }) => method === "LeaseService.Release");
  return calls.map(({ number, request: bytes }) => ({ number, ...LeaseServiceReleaseRequest.decode(bytes) }));
}

function granted(sendNumber: bigint, token = 40n): Uint8Array {
  const grants = [Grant.create({ lease, hold: { holdId: 1n, partition: 2, token, holder: "a" }, sendNumber })];
  return LeaseServiceAcquireResponse.encode({ grants }).finish();
}

describe("a claim", () => {
  it("carries the number of its message, an attempt and the hash of the session's key", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const sentAtMs = clock.now();
    const claim = session.claim(request);
    await clock.advance(0);
    const [sent] = acquires(transport.last);
    expect(sent).toMatchObject({ sendNumber: transport.last.sent.at(-1)?.sendNumber, wait: undefined });
    expect(sent?.attempt).toEqual({ clientId: "client.1", number: 1n, settledBelow: 1n });
    expect(sent?.claimant?.renewKeyHash).toHaveLength(32);
    await clock.advance(700);
    transport.last.reply(1n, granted(sent?.sendNumber ?? 0n));
    expect(await claim).toMatchObject([{ sentAtMs, grant: { hold: { token: 40n } } }]);
  });

  it("counts from the send that the store names, not from its retry", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const firstAtMs = clock.now();
    const claim = session.claim(request);
    await clock.advance(0);
    await clock.advance(300);
    transport.last.fail(1n, unavailable, "APPEND_UNKNOWN", appliedUnknown);
    await clock.advance(300);
    const [first, second] = acquires(transport.last);
    expect(second?.sendNumber).toBeGreaterThan(first?.sendNumber ?? 0n);
    expect(second?.attempt).toEqual(first?.attempt);
    transport.last.reply(2n, granted(first?.sendNumber ?? 0n));
    expect((await claim)[0]?.sentAtMs).toBe(firstAtMs);
  });

  it("that waits is sent again after a reconnect, with its attempt and age, and without its timeout's past", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const claim = session.claim(request, { waitMs: 60_000 });
    await clock.advance(0);
    await clock.advance(10_000);
    expect(acquires(transport.last)[0]?.wait).toMatchObject({
      timeout: { seconds: 60n, nanos: 0 },
      age: { seconds: 0n, nanos: 0 },
    });
    const attempt = acquires(transport.last)[0]?.attempt;
    transport.last.break();
    await clock.advance(50);
    transport.last.welcome();
    await clock.advance(0);
    const [again] = acquires(transport.last);
    expect(again?.attempt).toEqual(attempt);
    expect(Number(again?.wait?.age?.seconds)).toBe(10);
    expect(Number(again?.wait?.timeout?.seconds)).toBe(49);
    transport.last.reply(again?.number ?? 0n, granted(again?.sendNumber ?? 0n));
    expect(await claim).toHaveLength(1);
  });

  it("that waits for ever goes on when the service ends the wait before its time", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const claim = session.claim(request, { waitMs: "forever" });
    await clock.advance(0);
    await clock.advance(5_000);
    expect(acquires(transport.last)[0]?.wait?.timeout).toBeUndefined();
    transport.last.fail(1n, failedPrecondition, "WAIT_ENDED", appliedNo);
    await clock.advance(100);
    const [, again] = acquires(transport.last);
    expect(again?.wait?.age?.seconds).toBe(5n);
    transport.last.reply(again?.number ?? 0n, granted(again?.sendNumber ?? 0n));
    expect(await claim).toHaveLength(1);
  });

  it("ends with WAIT_ENDED when its own time is over", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const claim = session.claim(request, { waitMs: 1_000 });
    const failure = expect(claim).rejects.toMatchObject({ reason: "WAIT_ENDED" });
    await clock.advance(0);
    await clock.advance(1_000);
    transport.last.fail(1n, failedPrecondition, "WAIT_ENDED", appliedNo);
    await failure;
    await clock.advance(5_000);
    expect(transport.last.calls).toHaveLength(1);
  });

  it("whose caller leaves is asked for with the same attempt, and what it was granted is released", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const stop = new AbortController();
    const claim = session.claim(request, { waitMs: "forever", signal: stop.signal });
    const failure = expect(claim).rejects.toMatchObject({ code: "CANCELLED", applied: "UNKNOWN" });
    await clock.advance(0);
    stop.abort();
    await failure;
    await clock.advance(0);
    expect(transport.last.sent.at(-1)?.cancels).toEqual([1n]);
    // A late answer to the call that was given up is dropped: only one answer counts for an attempt.
    transport.last.reply(1n, granted(2n));
    await clock.advance(100);
    const [first, asked] = acquires(transport.last);
    expect(first?.givenUp).toBe(false);
    // It claims nothing: the lease may have become free, and this client may be claiming it anew.
    expect(asked).toMatchObject({ attempt: first?.attempt, wait: undefined, givenUp: true });
    transport.last.reply(asked?.number ?? 0n, granted(2n, 77n));
    await clock.advance(0);
    const [release] = releases(transport.last);
    expect(release?.items).toEqual([{ lease, token: 77n }]);
    expect(release?.renewKey).toEqual(new Uint8Array([1, 2, 3]));
    transport.last.reply(
      release?.number ?? 0n,
      LeaseServiceReleaseResponse.encode({ released: [true], revision: 5n }).finish(),
    );
    await session[Symbol.asyncDispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it("that is refused after a copy without an answer is doubtful: the copy may still be granted", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const claim = session.claim(request);
    const failure = expect(claim).rejects.toMatchObject({ reason: "LEASE_HELD", applied: "UNKNOWN" });
    await clock.advance(0);
    transport.last.break();
    await clock.advance(50);
    transport.last.welcome();
    await clock.advance(0);
    transport.last.fail(2n, failedPrecondition, "LEASE_HELD", appliedNo);
    await failure;
    await clock.advance(100);
    expect(acquires(transport.last)).toHaveLength(2);
    transport.last.fail(3n, failedPrecondition, "LEASE_HELD", appliedNo);
    await clock.advance(10_000);
    expect(acquires(transport.last)).toHaveLength(2);
    // Its lane is free again, and the next claim's number makes the store refuse what may still be on its way.
    void session.claim(request).catch(() => {});
    await clock.advance(0);
    expect(acquires(transport.last)[2]?.attempt).toEqual({ clientId: "client.1", number: 2n, settledBelow: 2n });
  });

  it("is settled also when its caller left with an error of the SDK's own as the reason", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const stop = new AbortController();
    const reason = new TenureError({ code: "CANCELLED", reason: "TERM_OVER", message: "over" });
    const claim = session.claim(request, { waitMs: "forever", signal: stop.signal });
    const failure = expect(claim).rejects.toMatchObject({ reason: "TERM_OVER", applied: "UNKNOWN", cause: reason });
    await clock.advance(0);
    stop.abort(reason);
    await failure;
    await clock.advance(100);
    expect(acquires(transport.last)).toHaveLength(2);
  });

  it("whose caller leaves before it was sent needs no asking", async () => {
    const { session, transport, clock } = await sessionUnderTest({ isConnected: false });
    const stop = new AbortController();
    const claim = session.claim(request, { signal: stop.signal });
    const failure = expect(claim).rejects.toMatchObject({ code: "CANCELLED", applied: "NO" });
    stop.abort();
    await failure;
    transport.last.welcome();
    await clock.advance(5_000);
    expect(transport.last.calls).toHaveLength(0);
  });

  it("that was given up is not asked for without end, and a session that closes waits for it at most T", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const claim = session.claim(request, { timeoutMs: 1_000 });
    const failure = expect(claim).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED", applied: "UNKNOWN" });
    await clock.advance(0);
    await clock.advance(1_000);
    await failure;
    let isClosed = false;
    const closing = session[Symbol.asyncDispose]().then(() => {
      isClosed = true;
    });
    await clock.advance(0);
    await clock.advance(1_999);
    expect(isClosed).toBe(false);
    await clock.advance(1);
    await closing;
    await clock.advance(60_000);
    expect(acquires(transport.last).length).toBeLessThanOrEqual(2);
  });
});

describe("an accept and a release", () => {
  it("of unknown outcome has its term given back, so that nobody waits for a leader that does not know", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const candidate = { lease, name: "c" };
    const accept = session.accept({ candidate, token: 9n, claimant: Claimant.create({}) }, { timeoutMs: 2_000 });
    const failure = expect(accept).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED", applied: "UNKNOWN" });
    await clock.advance(0);
    await clock.advance(2_000);
    await failure;
    await clock.advance(100);
    const [release] = releases(transport.last);
    expect(release?.items).toEqual([{ lease, token: 9n }]);
  });

  it("that was refused leaves nothing to give back", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const accept = session.accept({ candidate: { lease, name: "c" }, token: 9n, claimant: Claimant.create({}) });
    const failure = expect(accept).rejects.toMatchObject({ reason: "ACCEPT_TOO_LATE", applied: "NO" });
    await clock.advance(0);
    transport.last.fail(1n, failedPrecondition, "ACCEPT_TOO_LATE", appliedNo);
    await failure;
    await clock.advance(5_000);
    expect(releases(transport.last)).toEqual([]);
  });

  it("are timed from the send, and carry what the session knows", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const candidate = { lease, name: "c" };
    const accept = session.accept({ candidate, token: 9n, claimant: Claimant.create({}) });
    await clock.advance(0);
    const [call] = transport.last.calls;
    const sent = LeaseServiceAcceptRequest.decode(call?.request ?? new Uint8Array(0));
    expect(sent).toMatchObject({ candidate, token: 9n, sendNumber: 2n, attempt: { number: 1n } });
    const grant = Grant.create({ lease, sendNumber: 2n });
    transport.last.reply(1n, LeaseServiceAcceptResponse.encode({ grant }).finish());
    expect(await accept).toMatchObject({ sentAtMs: 100_000 });
    const release = session.release([{ lease, token: 9n }], { endReason: TermEndReason.STEPPED_DOWN, note: "enough" });
    await clock.advance(0);
    expect(releases(transport.last)[0]).toMatchObject({
      endReason: TermEndReason.STEPPED_DOWN,
      note: { reason: "enough" },
      attempt: { clientId: "client.1", number: 2n },
    });
    transport.last.reply(2n, LeaseServiceReleaseResponse.encode({ released: [true], revision: 5n }).finish());
    expect(await release).toEqual({ released: [true], revision: 5n });
  });
});
