import { describe, expect, it } from "vitest";
import type { Term } from "../term/term.ts";
import { clientUnderTest } from "../testing/client-under-test.ts";
import { refusal, unavailable } from "../testing/scripted-session.ts";

/** A function of a term that ends when the test says so. */
function slowWork() {
  const terms: Term[] = [];
  const ends: (() => void)[] = [];
  return {
    terms,
    end: () => ends.at(-1)?.(),
    work: (term: Term): Promise<void> => {
      terms.push(term);
      return new Promise((resolve) => ends.push(resolve));
    },
  };
}

describe("leading", () => {
  it("claims exclusively and waits for ever, by push and not by polling", async () => {
    const { client, session } = clientUnderTest();
    void client.lead("billing/scheduler", slowWork().work);
    await session.clock.advance(600_000);
    expect(session.claims).toHaveLength(1);
    expect(session.lastClaim.options.waitMs).toBe("forever");
    expect(session.lastClaim.request.claims).toMatchObject([
      { lease: { namespace: "billing", name: "scheduler" }, mode: 1 },
    ]);
    expect(session.lastClaim.request.claimant).toMatchObject({
      holder: "me",
      timing: { leaseDuration: { seconds: 1n } },
    });
  });

  it("runs the function once per term, releases when it has returned, and only then campaigns again", async () => {
    const { client, session } = clientUnderTest();
    const { work, terms, end } = slowWork();
    void client.lead("a/b", work);
    session.lastClaim.grant();
    await session.clock.advance(0);
    await session.clock.advance(150);
    session.lastKept.listener.onEndOfTerm({ successor: "c", cleared: false, reason: "" });
    await session.clock.advance(300);
    expect(terms).toHaveLength(1);
    expect(session.claims).toHaveLength(1);
    expect(session.releases).toHaveLength(0);
    end();
    await session.clock.advance(0);
    expect(session.releases).toHaveLength(1);
    expect(session.claims).toHaveLength(2);
    session.lastClaim.grant();
    await session.clock.advance(0);
    expect(terms).toHaveLength(2);
    expect(terms[1]?.token).toBeGreaterThan(terms[0]?.token ?? 0n);
  });

  it("does not campaign again before the release was answered", async () => {
    const { client, session } = clientUnderTest();
    const { work, end } = slowWork();
    let answer: () => void = () => undefined;
    session.releasing = () =>
      new Promise((resolve) => {
        answer = () => resolve({ released: [true], revision: 1n });
      });
    void client.lead("a/b", work);
    session.lastClaim.grant();
    await session.clock.advance(0);
    await session.clock.advance(200);
    end();
    await session.clock.advance(50);
    expect(session.claims).toHaveLength(1);
    answer();
    await session.clock.advance(0);
    expect(session.claims).toHaveLength(2);
  });

  it("pauses before it campaigns again when the function returned at once", async () => {
    const { client, session } = clientUnderTest();
    void client.lead("a/b", () => undefined);
    session.lastClaim.grant();
    await session.clock.advance(0);
    await session.clock.advance(99);
    expect(session.releases).toHaveLength(1);
    expect(session.claims).toHaveLength(1);
    await session.clock.advance(122);
    expect(session.claims).toHaveLength(2);
  });

  it("resolves when its signal is aborted while it waits: the queue is left and nothing was run", async () => {
    const { client, session } = clientUnderTest();
    const stop = new AbortController();
    const { work, terms } = slowWork();
    const leading = client.lead("a/b", { signal: stop.signal }, work);
    await session.clock.advance(10);
    stop.abort();
    await expect(leading).resolves.toBeUndefined();
    expect(terms).toEqual([]);
  });

  it("ends the function, releases and resolves when its signal is aborted while it leads", async () => {
    const { client, session } = clientUnderTest();
    const stop = new AbortController();
    const leading = client.lead("a/b", { signal: stop.signal }, async (term) => {
      await new Promise((resolve) => term.signal.addEventListener("abort", resolve));
      expect(term.signal.reason?.end.kind).toBe("stopped");
      expect(session.releases).toEqual([]);
      term.check();
    });
    session.lastClaim.grant();
    await session.clock.advance(0);
    await session.clock.advance(10);
    stop.abort("shutdown");
    await leading;
    expect(session.releases).toHaveLength(1);
    expect(session.claims).toHaveLength(1);
  });

  it("does not run the function when its signal was aborted with the grant under way", async () => {
    const { client, session } = clientUnderTest();
    const stop = new AbortController();
    const { work, terms } = slowWork();
    const leading = client.lead("a/b", { signal: stop.signal }, work);
    await session.clock.advance(0);
    session.lastClaim.grant();
    stop.abort();
    await leading;
    expect(terms).toEqual([]);
    expect(session.releases).toHaveLength(1);
  });

  it("gives back a grant that came too late to start its function, and goes on", async () => {
    const { client, session } = clientUnderTest();
    const { work, terms } = slowWork();
    void client.lead("a/b", work);
    session.lastClaim.grant(0);
    await session.clock.advance(0);
    expect(session.releases).toHaveLength(1);
    expect(terms).toEqual([]);
    expect(session.claims).toHaveLength(2);
    session.lastClaim.grant(Number.NEGATIVE_INFINITY);
    await session.clock.advance(0);
    expect(terms).toEqual([]);
  });

  it("rejects with what the function throws, after the release", async () => {
    const { client, session } = clientUnderTest();
    const leading = client.lead("a/b", () => Promise.reject(new Error("of the function")));
    session.lastClaim.grant();
    await expect(leading).rejects.toThrow("of the function");
    expect(session.releases).toHaveLength(1);
  });

  it.each([
    ["the signal's reason", (term: Term) => term.signal.reason],
    ["what wraps it", (term: Term) => new Error("gave up", { cause: term.signal.reason })],
    ["an AbortError", () => new DOMException("aborted", "AbortError")],
    ["a refusal of the store", () => refusal("FENCED")],
  ])("campaigns again when the function ends its term with %s", async (_name, errorOf) => {
    const { client, session } = clientUnderTest();
    const leading = client.lead("a/b", async (term) => {
      await new Promise((resolve) => term.signal.addEventListener("abort", resolve));
      throw errorOf(term);
    });
    session.lastClaim.grant();
    await session.clock.advance(0);
    await session.clock.advance(200);
    session.lastKept.listener.onRefused(refusal("FENCED"));
    await session.clock.advance(0);
    expect(session.claims).toHaveLength(2);
    await client.close();
    await leading;
  });

  it.each(["INVALID_ARGUMENT", "PERMISSION_DENIED", "UNAUTHENTICATED"] as const)(
    "rejects at once when the claim fails with %s",
    async (code) => {
      const { client, session } = clientUnderTest();
      const leading = client.lead("a/b", () => undefined);
      session.lastClaim.fail(Object.assign(unavailable("no"), { code, retryable: false }));
      await expect(leading).rejects.toMatchObject({ code });
    },
  );

  it("waits as long as the store asks before it tries again", async () => {
    const { client, session } = clientUnderTest();
    void client.lead("a/b", () => undefined);
    session.lastClaim.fail(Object.assign(unavailable("later"), { details: { retryAfterMs: 5_000 } }));
    await session.clock.advance(0);
    await session.clock.advance(4_999);
    expect(session.claims).toHaveLength(1);
    await session.clock.advance(1);
    expect(session.claims).toHaveLength(2);
  });

  it("with once resolves with what the function returned, or with nothing if it never led", async () => {
    const { client, session } = clientUnderTest();
    const leading = client.lead("a/b", { once: true }, (term) => term.token);
    session.lastClaim.grant();
    await expect(leading).resolves.toBe(41n);
    const other = client.lead("a/b", { once: true }, () => "led");
    await session.clock.advance(0);
    await client.close();
    await expect(other).resolves.toBeUndefined();
  });

  it("with once rejects when the function was cut short", async () => {
    const { client, session } = clientUnderTest();
    const leading = client.lead("a/b", { once: true }, async (term) => {
      await new Promise((_, reject) => term.signal.addEventListener("abort", () => reject(term.signal.reason)));
    });
    session.lastClaim.grant();
    await session.clock.advance(0);
    session.lastKept.listener.onRefused(refusal("FENCED"));
    await expect(leading).rejects.toMatchObject({ reason: "TERM_OVER", end: { kind: "preempted" } });
  });

  it("refuses a timing that is unsafe, a name that is illegal and a missing function before it asks for anything", async () => {
    const { client, session } = clientUnderTest();
    await expect(client.lead("a/b", { usableTerm: "2s" }, () => undefined)).rejects.toMatchObject({
      reason: "TIMING_UNSAFE",
    });
    await expect(client.lead("a/B*", () => undefined)).rejects.toMatchObject({ details: { field: "lease.name" } });
    await expect(client.lead("a/b", {}, undefined as never)).rejects.toThrow("work must be a function");
    expect(session.claims).toEqual([]);
  });
});

describe("a campaign as a loop", () => {
  it("gives one term after the other, each released when its block is left", async () => {
    const { client, session } = clientUnderTest();
    const tokens: bigint[] = [];
    const looping = (async () => {
      for await (await using term of client.campaign("a/b")) {
        tokens.push(term.token);
        await session.clock.sleep(200);
        if (tokens.length === 2) break;
      }
    })();
    await session.clock.advance(0);
    session.lastClaim.grant();
    await session.clock.advance(0);
    await session.clock.advance(200);
    expect(session.releases).toHaveLength(1);
    session.lastClaim.grant();
    await session.clock.advance(0);
    await session.clock.advance(200);
    await looping;
    expect(tokens).toEqual([41n, 42n]);
    expect(session.releases).toHaveLength(2);
    expect(session.claims).toHaveLength(2);
  });

  it("releases also for those who do not dispose of the term themselves", async () => {
    const { client, session } = clientUnderTest();
    const campaign = client.campaign("a/b");
    const first = campaign.next();
    await session.clock.advance(0);
    session.lastClaim.grant();
    expect((await first).value?.token).toBe(41n);
    await session.clock.advance(200);
    void campaign.next();
    await session.clock.advance(0);
    expect(session.releases).toHaveLength(1);
    await client.close();
  });
});

describe("closing a client", () => {
  it("waits for a function that never returns only as long as its term can last", async () => {
    const { client, session } = clientUnderTest();
    void client.lead("a/b", { onOverrun: "signal-only" }, () => new Promise(() => undefined));
    await session.clock.advance(0);
    session.lastClaim.grant();
    await session.clock.advance(0);
    const closing = client.close();
    await session.clock.advance(1_699);
    expect(session.isClosed).toBe(false);
    await session.clock.advance(1);
    await closing;
    expect(session.isClosed).toBe(true);
    expect(session.releases).toEqual([]);
  });

  it("asks every term to finish, waits for it, and hangs up last", async () => {
    const { client, session } = clientUnderTest();
    const { work, terms, end } = slowWork();
    const leading = client.lead("a/b", work);
    session.lastClaim.grant();
    await session.clock.advance(0);
    await session.clock.advance(10);
    const closing = client.close();
    await session.clock.advance(10);
    expect(terms[0]?.signal.reason?.end.kind).toBe("stopped");
    expect(session.isClosed).toBe(false);
    end();
    await closing;
    await leading;
    expect(session.releases).toHaveLength(1);
    expect(session.isClosed).toBe(true);
    await expect(client.lock("a/c")).rejects.toMatchObject({ reason: "SESSION_CLOSED" });
  });
});
