import { describe, expect, it } from "vitest";
import { LeaderElector } from "./lead/leader-elector.ts";
import type { Observation } from "./observe/observation.ts";
import { tellNewLeaders } from "./observe/observe.ts";
import type { Term } from "./term/term.ts";
import { type ClientUnderTest, clientUnderTest, fastTiming } from "./testing/client-under-test.ts";
import { refusal, unavailable } from "./testing/scripted-session.ts";
import { resolveTiming } from "./timing/check-timing.ts";

// The numbered statements about clients that must hold. Where the safety protocol amends one, the test says so.

/** A leader at 1,000 ms whose function ends when the test says so. */
async function leader(test: ClientUnderTest = clientUnderTest(), options = {}) {
  let end: () => void = () => undefined;
  const terms: Term[] = [];
  const leading = test.client.lead("a/b", options, (term) => {
    terms.push(term);
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  await test.session.clock.advance(0);
  test.session.lastClaim.grant();
  await test.session.clock.advance(0);
  return { ...test, leading, terms, term: terms[0] as Term, kept: test.session.lastKept, end: () => end() };
}

const ignore = (): void => undefined;
const callbacks = { onStartedLeading: ignore, onStoppedLeading: ignore };

describe("what construction refuses", () => {
  it.each([
    [
      "a lease duration that is not above the renew deadline",
      { leaseDuration: "11s", usableTerm: "11s" },
      "must be longer than usableTerm 11s, the renew deadline",
    ],
    [
      "a renew deadline that is not above 1.2 x the retry period",
      { usableTerm: "2400ms", renewInterval: "2s" },
      "more than 1.2 times renewInterval 2s, the retry period",
    ],
    ["no lease duration", { leaseDuration: 0 }, "leaseDuration must be above 0"],
    ["no renew deadline", { usableTerm: 0 }, "usableTerm must be above 0"],
    ["no retry period", { renewInterval: 0 }, "renewInterval must be above 0"],
    ["a negative duration", { leaseDuration: -1 }, "leaseDuration must be whole milliseconds"],
  ])("[24] %s", (_what, options, message) => expect(() => resolveTiming(options)).toThrow(message));

  it.each([
    ["start callback", { lock: "a/b", callbacks: { onStoppedLeading: ignore } }, "callbacks.onStartedLeading"],
    ["stop callback", { lock: "a/b", callbacks: { onStartedLeading: ignore } }, "callbacks.onStoppedLeading"],
    ["lock", { lock: "", callbacks }, "lock must name the lease"],
  ])("[24] a missing %s", (_what, config, message) => {
    expect(() => new LeaderElector(clientUnderTest().client, config as never)).toThrow(message);
  });

  it("[24] client-go's own names are checked by the same rules", async () => {
    const config = { lock: "a/b", leaseDuration: "15s", renewDeadline: "15s", retryPeriod: "2s", callbacks };
    await expect(new LeaderElector(clientUnderTest().client, config).run()).rejects.toThrow(
      "must be longer than usableTerm",
    );
  });

  it("[25] a lease duration with a fraction of a second is honoured exactly", async () => {
    const { client, session } = clientUnderTest();
    void client.lead("a/b", { leaseDuration: "1.5s" }, () => undefined);
    await session.clock.advance(0);
    expect(session.lastClaim.request.claimant.timing?.leaseDuration).toEqual({ seconds: 1n, nanos: 500_000_000 });
  });

  it("[25] one below what is safe is refused, and one below a millisecond too: neither becomes 0", () => {
    expect(() => resolveTiming({ leaseDuration: "900ms" })).toThrow("leaseDuration 900ms");
    expect(() => resolveTiming({ leaseDuration: "10000.5ms" })).toThrow("whole milliseconds");
  });
});

describe("a standby", () => {
  it("[26] tries again after retry x [1, 2.2) from the end of the last attempt", async () => {
    const { client, session, events } = clientUnderTest();
    void client.lead("a/b", () => undefined);
    const pauses: number[] = [];
    for (let round = 0; round < 200; round += 1) {
      await session.clock.advance(0);
      const failedAtMs = session.clock.now();
      session.lastClaim.fail(unavailable());
      await session.clock.advance(0);
      await session.clock.advance(220);
      expect(session.claims).toHaveLength(round + 2);
      pauses.push(session.lastClaim.atMs - failedAtMs);
    }
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(fastTiming.renewInterval);
    expect(Math.max(...pauses)).toBeLessThan(2.2 * fastTiming.renewInterval);
    expect(Math.max(...pauses) - Math.min(...pauses)).toBeGreaterThan(fastTiming.renewInterval);
    expect(events.filter(({ kind }) => kind === "claim-failed")).toHaveLength(200);
  });
});

describe("a leader whose renewals fail", () => {
  it("[27] goes on trying and stops at the renew deadline, counted from the send (amended), not before", async () => {
    const { session, kept, term } = await leader(undefined, { onOverrun: "signal-only" });
    expect(kept.hold).toMatchObject({
      renewIntervalMs: 100,
      requestTimeoutMs: 200,
      usableTermMs: 1_100,
      provenAtMs: 1_000,
    });
    for (let missed = 0; missed < 9; missed += 1) {
      await session.clock.advance(100);
      kept.listener.onMissed(unavailable());
      expect(term.signal.aborted).toBe(false);
      expect(kept.isDisposed).toBe(false);
    }
    await session.clock.advance(99);
    expect(term.signal.aborted).toBe(false);
    await session.clock.advance(1);
    expect(term.signal.reason?.end.kind).toBe("unreachable");
    await session.clock.advance(99);
    term.check();
    await session.clock.advance(1);
    expect(() => term.check()).toThrow("renewals failed for too long");
    expect(kept.isDisposed).toBe(true);
  });

  it("[27] each success starts the deadline anew", async () => {
    const { session, kept, term } = await leader();
    for (let round = 0; round < 20; round += 1) {
      await session.clock.advance(900);
      kept.listener.onMissed(unavailable());
      kept.listener.onRenewed(session.clock.now() - 5);
    }
    expect(term.remainingMs).toBe(1_095);
    expect(term.signal.aborted).toBe(false);
  });

  it("[28] the signal given to the function is aborted before lead resolves or campaigns again", async () => {
    const { session, term, leading, end, client } = await leader();
    end();
    await session.clock.advance(0);
    expect(term.signal.aborted).toBe(true);
    await client.close();
    await leading;
  });

  it("[28] the signal given to the start callback is aborted before run returns", async () => {
    const { client, session } = clientUnderTest();
    let signal: AbortSignal | undefined;
    const elector = new LeaderElector(client, {
      lock: "a/b",
      callbacks: {
        onStartedLeading: (given) => {
          signal = given;
        },
        onStoppedLeading: () => expect(signal?.aborted).toBe(true),
      },
    });
    const running = elector.run();
    await session.clock.advance(0);
    session.lastClaim.grant();
    await running;
    expect(signal?.aborted).toBe(true);
  });

  it("[32] is no leader past the last renewal + the usable term, though nothing told it so", async () => {
    const { client, session, term } = await leader();
    const elector = new LeaderElector(client, { lock: "a/b", callbacks });
    expect(elector.isLeader()).toBe(true);
    const now = session.clock.now();
    session.clock.now = () => now + 1_100;
    expect(elector.isLeader()).toBe(false);
    expect(() => term.check()).toThrow("ran out");
  });
});

describe("the stop callback", () => {
  const run = async (config: object) => {
    const { client, session } = clientUnderTest();
    let stopped = 0;
    const stop = new AbortController();
    const elector = new LeaderElector(client, {
      lock: "a/b",
      callbacks: {
        onStartedLeading: () => undefined,
        onStoppedLeading: () => {
          stopped += 1;
        },
      },
      ...config,
    });
    return { elector, session, stop, calls: () => stopped };
  };

  it("[29] is not called when it never led", async () => {
    const { elector, session, stop, calls } = await run({});
    const running = elector.run(stop.signal);
    await session.clock.advance(0);
    stop.abort();
    await running;
    expect(calls()).toBe(0);
  });

  it("[29] is called all the same with the switch for compatibility", async () => {
    const { elector, session, stop, calls } = await run({ alwaysCallStopped: true });
    const running = elector.run(stop.signal);
    await session.clock.advance(0);
    stop.abort();
    await running;
    expect(calls()).toBe(1);
  });

  it("[29] is called once when it led", async () => {
    const { elector, session, calls } = await run({});
    const running = elector.run();
    await session.clock.advance(0);
    session.lastClaim.grant();
    await running;
    expect(calls()).toBe(1);
  });
});

describe("a release", () => {
  it("[30] is sent only after the function has returned, renewing meanwhile", async () => {
    const stop = new AbortController();
    const { session, kept, end, leading } = await leader(undefined, { signal: stop.signal });
    stop.abort();
    await session.clock.advance(400);
    kept.listener.onRenewed(session.clock.now());
    expect(session.releases).toEqual([]);
    expect(kept.isRenewing).toBe(true);
    end();
    await leading;
    expect(session.releases).toHaveLength(1);
  });

  it("[30] is never sent when the function outlives its bound and the term (amended: not after a bounded time)", async () => {
    const stop = new AbortController();
    const { session, kept, exits } = await leader(undefined, { signal: stop.signal });
    stop.abort();
    await session.clock.advance(500);
    expect(kept.isRenewing).toBe(false);
    await session.clock.advance(5_000);
    expect(session.releases).toEqual([]);
    expect(exits).toMatchObject([{ code: 20, atMs: 2_100 }]);
  });
});

describe("new leaders", () => {
  const lease = { namespace: "a", name: "b" };
  const leads = (holder: string, token: bigint): Observation => ({
    kind: "leader",
    lease,
    holder,
    token,
    value: new Uint8Array(),
    successor: undefined,
    isSelf: holder === "me",
  });
  const vacant: Observation = { kind: "vacant", lease, lastToken: 1n, why: "RELEASED" };

  it("[31] are told once each: the first seen, others, and itself", async () => {
    async function* observed() {
      yield leads("x", 1n);
      yield { ...leads("x", 1n), successor: "me" } as Observation;
      yield leads("x", 2n);
      yield leads("me", 3n);
      yield vacant;
      yield leads("y", 4n);
    }
    const told: string[] = [];
    await tellNewLeaders(observed(), (holder) => void told.push(holder));
    expect(told).toEqual(["x", "me", "y"]);
  });
});

describe("a renewal", () => {
  it("[33] costs one send and no read; only one that was not proven is counted as the slow path", async () => {
    const { session, kept, client } = await leader();
    for (let round = 0; round < 10; round += 1) {
      await session.clock.advance(100);
      kept.listener.onRenewed(session.clock.now());
    }
    expect(session.asked).toEqual([]);
    expect(client.metrics.of("a/b")).toMatchObject({ renewals: 10, renewalsMissed: 0 });
    kept.listener.onMissed(unavailable());
    expect(client.metrics.text()).toContain('leader_election_slowpath_total{name="a/b"} 1\n');
  });

  it("[34] of a lease that was deleted undoes that in the store (rule 15): the term goes on unchanged", async () => {
    const { session, kept, term } = await leader();
    await session.clock.advance(500);
    kept.listener.onRenewed(session.clock.now());
    expect(term).toMatchObject({ token: 41n, remainingMs: 1_100 });
    expect(term.signal.aborted).toBe(false);
  });

  it("[34] of a lease that is gone for good ends the term, because another may have it", async () => {
    const { kept, term } = await leader();
    kept.listener.onRefused(refusal("LEASE_NOT_FOUND"));
    expect(term.remainingMs).toBe(0);
  });
});

describe("health and metrics", () => {
  /** The status of a path, without a socket. */
  const statusOf = (test: Pick<ClientUnderTest, "client">, path: string, grace: number): number => {
    let status = 0;
    const response = {
      writeHead(code: number) {
        status = code;
        return response;
      },
      end: ignore,
    };
    test.client.health("a/b", { grace })({ url: path, method: "GET" } as never, response as never);
    return status;
  };

  it("[35] fails only on a leader whose last good renewal is older than L + the grace; standbys are healthy", async () => {
    const standby = clientUnderTest();
    expect(statusOf(standby, "/healthz", 300)).toBe(200);
    const test = await leader(undefined, { onOverrun: "signal-only" });
    expect(statusOf(test, "/healthz", 300)).toBe(200);
    await test.session.clock.advance(1_800);
    expect(statusOf(test, "/healthz", 300)).toBe(200);
    await test.session.clock.advance(1);
    expect(statusOf(test, "/healthz", 300)).toBe(503);
  });

  it("[36] master_status is 0 before, 1 while leading, 0 after", async () => {
    const test = clientUnderTest();
    const status = () => /leader_election_master_status{name="a\/b"} (\d)/.exec(test.client.metrics.text())?.[1];
    const stop = new AbortController();
    const started = leader(test, { signal: stop.signal });
    expect(status()).toBe("0");
    const { end, leading } = await started;
    expect(status()).toBe("1");
    stop.abort();
    expect(status()).toBe("1");
    end();
    await leading;
    expect(status()).toBe("0");
  });

  it("[36] master_status is 0 from the moment of the loss, while the function still runs", async () => {
    const test = await leader(undefined, { onOverrun: "signal-only" });
    await test.session.clock.advance(1_100);
    expect(test.client.metrics.of("a/b").leading).toBe(0);
  });
});

describe("a daemon", () => {
  it("[40] exits with a code of its own when leadership is lost, after its function has returned", async () => {
    const { session, kept, end, exits } = await leader(undefined, { exitOnLoss: true });
    kept.listener.onRefused(refusal("FENCED"));
    await session.clock.advance(10);
    expect(exits).toEqual([]);
    end();
    await session.clock.advance(0);
    expect(exits).toMatchObject([{ code: 20 }]);
    expect(exits[0]?.why).toContain("the leadership of lease a/b (token 41) ended: it was fenced");
  });

  it("[40] exits with the code that it chose", async () => {
    const { session, kept, end, exits } = await leader(undefined, { exitOnLoss: 77 });
    kept.listener.onEndOfTerm({ successor: "c", cleared: false, reason: "" });
    end();
    await session.clock.advance(0);
    expect(exits).toMatchObject([{ code: 77 }]);
  });

  it("[40] does not exit by itself on a stop that was asked for: lead resolves and the process ends with 0", async () => {
    const stop = new AbortController();
    const { end, exits, leading } = await leader(undefined, { exitOnLoss: true, signal: stop.signal });
    stop.abort();
    end();
    await leading;
    expect(exits).toEqual([]);
  });
});
