import { TermEndReason } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { clientUnderTest } from "../testing/client-under-test.ts";
import { refusal, unavailable } from "../testing/scripted-session.ts";
import { isTermEnded } from "./term-ended.ts";

/** A lock that has just been granted, at 1,000 ms. */
async function heldLock(
  options: Parameters<typeof clientUnderTest>[0] = {},
  onOverrun: "exit" | "signal-only" = "exit",
) {
  const test = clientUnderTest(options);
  const taking = test.client.lock("jobs/one", { onOverrun });
  test.session.lastClaim.grant();
  const term = await taking;
  return { ...test, term, kept: test.session.lastKept };
}

describe("a held term", () => {
  it("shows what was granted, and what is left of it at every read", async () => {
    const { term, session } = await heldLock();
    expect(term).toMatchObject({
      lease: { namespace: "jobs", name: "one" },
      token: 41n,
      holder: "me",
      mode: "exclusive",
      units: 1,
      standing: "held",
      remainingMs: 1_100,
    });
    await session.clock.advance(300);
    expect(term.remainingMs).toBe(800);
  });

  it("is extended in place by a proven renewal, from its send", async () => {
    const { term, session, kept } = await heldLock();
    await session.clock.advance(150);
    kept.listener.onRenewed(1_100);
    expect(term.remainingMs).toBe(1_050);
  });

  it("takes the proof that the renewing thread left while this one was busy", async () => {
    const { term, session, kept } = await heldLock();
    kept.provenAtMs = 1_900;
    await session.clock.advance(1_050);
    expect(term.signal.aborted).toBe(false);
    expect(term.remainingMs).toBe(950);
  });

  it("throws from check at the deadline by the clock, though no timer has fired, and then says why", async () => {
    const { term, session } = await heldLock();
    // The clock is moved under the timers, as after a pause of the process.
    const now = session.clock.now();
    session.clock.now = () => now + 1_100;
    expect(() => term.check()).toThrow(expect.objectContaining({ reason: "TERM_OVER", code: "FAILED_PRECONDITION" }));
    expect(term.signal.aborted).toBe(true);
    expect(term.signal.reason?.end.kind).toBe("expired");
    expect(isTermEnded(term.signal.reason)).toBe(true);
    expect(term.remainingMs).toBe(0);
  });

  it("tells at risk, held and lost, in that order and once each", async () => {
    const { term, session, kept } = await heldLock();
    const told: string[] = [];
    term.on("at-risk", ({ remainingMs, error }) => told.push(`at-risk ${remainingMs} ${error.reason}`));
    term.on("held", ({ remainingMs }) => told.push(`held ${remainingMs}`));
    term.on("lost", ({ end }) => told.push(`lost ${end.kind}`));
    await session.clock.advance(200);
    kept.listener.onMissed(unavailable());
    kept.listener.onMissed(unavailable());
    kept.listener.onRenewed(1_150);
    kept.listener.onMissed(unavailable());
    await session.clock.advance(2_000);
    expect(told).toEqual(["at-risk 900 UNREACHABLE", "held 1050", "at-risk 1050 UNREACHABLE", "lost unreachable"]);
  });

  it("is disturbed by no listener that throws", async () => {
    const { term, kept } = await heldLock();
    const thrown: unknown[] = [];
    process.once("uncaughtException", (error) => thrown.push(error));
    const told: string[] = [];
    term.on("at-risk", () => {
      throw new Error("of the listener");
    });
    term.on("at-risk", () => told.push("second"));
    kept.listener.onMissed(unavailable());
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual(["second"]);
    expect(thrown).toEqual([new Error("of the listener")]);
  });

  it("releases when its block is left, with nothing after it", async () => {
    const { term, session, kept, events } = await heldLock();
    await term[Symbol.asyncDispose]();
    await term[Symbol.asyncDispose]();
    expect(session.releases).toMatchObject([
      {
        items: [{ lease: { namespace: "jobs", name: "one" }, token: 41n }],
        options: { endReason: TermEndReason.RELEASED },
      },
    ]);
    expect(kept.isDisposed).toBe(true);
    await session.clock.advance(60_000);
    expect(session.clock.pendingTimers).toBe(0);
    expect(term.signal.reason?.end).toMatchObject({ kind: "released" });
    expect(() => term.check()).toThrow("was released");
    expect(events.map(({ kind }) => kind)).toEqual(["term-began", "term-ending", "term-released"]);
  });

  it("says in history that it stepped down", async () => {
    const { term, session } = await heldLock();
    term.stepDown("maintenance");
    expect(term.signal.reason?.end).toEqual({ kind: "released", by: "step-down", note: "maintenance" });
    expect(session.releases).toEqual([]);
    await term[Symbol.asyncDispose]();
    expect(session.releases[0]?.options).toMatchObject({ endReason: TermEndReason.STEPPED_DOWN, note: "maintenance" });
  });

  it("makes way at an end of term, for the successor, and renews until it has", async () => {
    const { term, session, kept } = await heldLock();
    kept.listener.onEndOfTerm({ successor: "b", cleared: false, reason: "newer" });
    expect(term.signal.reason?.end).toEqual({ kind: "end-of-term", successor: "b", note: "newer" });
    expect(term.signal.reason?.details.successor).toBe("b");
    expect(kept.isRenewing).toBe(true);
    term.check();
    await term[Symbol.asyncDispose]();
    expect(session.releases[0]?.options.endReason).toBe(TermEndReason.PREEMPTED);
  });

  it("goes on when an end of term was withdrawn before it was told", async () => {
    const { term, kept } = await heldLock();
    kept.listener.onEndOfTerm({ successor: "", cleared: true, reason: "" });
    expect(term.signal.aborted).toBe(false);
  });

  it.each([
    ["FENCED", "preempted", false],
    ["NOT_HOLDER", "expired", false],
    ["TERM_EXPIRED", "expired", false],
    ["REVOKED", "preempted", true],
    ["END_OF_TERM", "end-of-term", true],
    ["RENEW_KEY_MISMATCH", "unreachable", true],
  ])("refused with %s it ends as %s; may it still finish? %s", async (reason, kind, mayFinish) => {
    const { term, kept } = await heldLock();
    kept.listener.onRefused(refusal(reason));
    expect(term.signal.reason?.end.kind).toBe(kind);
    expect(term.remainingMs > 0).toBe(mayFinish);
    expect(kept.isRenewing).toBe(false);
    // What it is for still runs: its deadline is watched until it is over.
    expect(kept.isDisposed).toBe(false);
    await term[Symbol.asyncDispose]();
    expect(kept.isDisposed).toBe(true);
  });

  it.each([
    [TermEndReason.STOLEN, "preempted"],
    [TermEndReason.REVOKED, "preempted"],
    [TermEndReason.ENDED, "end-of-term"],
    [TermEndReason.EXPIRED, "expired"],
    [TermEndReason.DELETED, "expired"],
  ])("the log's news %i ends it as %s at once", async (reason, kind) => {
    const { term, kept } = await heldLock();
    kept.listener.onEnded(reason, "a note");
    expect(term.signal.reason?.end.kind).toBe(kind);
    expect(term.remainingMs).toBe(0);
  });

  it("ends the process at the deadline when its block still runs, and says why", async () => {
    const { session, kept, exits } = await heldLock();
    kept.listener.onMissed(unavailable("no route to the store"));
    await session.clock.advance(1_099);
    expect(exits).toEqual([]);
    await session.clock.advance(1);
    expect(exits).toMatchObject([{ code: 20, atMs: 2_100 }]);
    expect(exits[0]?.why).toContain("lease jobs/one (token 41) is lost: renewals failed for too long");
    expect(exits[0]?.why).toContain("no route to the store");
  });

  it("leaves it at the signal when asked to", async () => {
    const { session, exits, client } = await heldLock({}, "signal-only");
    await session.clock.advance(5_000);
    expect(exits).toEqual([]);
    expect(client.metrics.of("jobs/*").overruns).toBe(1);
  });

  it.each(["signal", "proof"])(
    "is released once when its %s makes a listener release it, after the answer",
    async (what) => {
      const { client, term, session, kept } = await heldLock();
      const told: string[] = [];
      const release = () => void term.release().then(() => told.push("inner"));
      term.signal.addEventListener("abort", release);
      if (what === "proof") {
        kept.listener.onMissed(unavailable());
        kept.provenAtMs = 1_050;
        await session.clock.advance(60);
        term.on("held", release);
      }
      let answer = (): void => undefined;
      session.releasing = () =>
        new Promise((resolve) => {
          answer = () => resolve({ released: [true], revision: 9n });
        });
      const released = term.release().then(() => told.push("outer"));
      await session.clock.advance(100);
      expect([told, session.releases.length]).toEqual([[], 1]);
      answer();
      await released;
      await session.clock.advance(0);
      expect(new Set(told)).toEqual(new Set(["inner", "outer"]));
      expect(client.metrics.of("jobs/*")).toMatchObject({ leading: 0, ended: { released: 1 } });
    },
  );

  it("does not hold up its end for a release that finds no answer", async () => {
    const { term, session, events } = await heldLock();
    session.releasing = () => Promise.reject(unavailable());
    await term[Symbol.asyncDispose]();
    expect(session.releases[0]?.options.timeoutMs).toBe(400);
    expect(events.at(-1)).toMatchObject({ kind: "release-failed", error: { reason: "UNREACHABLE" } });
  });
});
