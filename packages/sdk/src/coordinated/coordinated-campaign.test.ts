import { CandidatePreference, Lease, PendingHold, StrategyKind } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { TenureError } from "../errors.ts";
import type { LeadOptions } from "../lead/lead.ts";
import { clientUnderTest } from "../testing/client-under-test.ts";
import { refusal } from "../testing/scripted-session.ts";
import type { CoordinatedOptions } from "./coordinated-options.ts";

const notFound = () => new TenureError({ code: "NOT_FOUND", reason: "LEASE_NOT_FOUND", message: "no lease" });

/** A client that stands for a lease, whose coordinator is the test. */
async function standing(coordinated: CoordinatedOptions = { binaryVersion: "1.20.0" }, more: LeadOptions = {}) {
  const test = clientUnderTest();
  const { session } = test;
  const answers = new Map<string, () => Promise<unknown>>([
    ["CandidateService.Ack", async () => ({ renewalRevisions: [5n] })],
    ["CandidateService.Get", async () => ({ candidate: undefined })],
    ["LeaseService.Get", () => Promise.reject(notFound())],
  ]);
  session.answer = async ({ method }) => await (answers.get(method)?.() ?? {});
  const stop = new AbortController();
  const tokens: bigint[] = [];
  const returns: (() => void)[] = [];
  const over = test.client.lead("a/b", { ...more, coordinated, signal: stop.signal }, async (term) => {
    tokens.push(term.token);
    await new Promise<void>((resolve) => {
      returns.push(resolve);
      term.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  });
  over.catch(() => undefined);
  const pass = (ms = 0) => session.clock.advance(ms);
  await pass();
  return {
    ...test,
    answers,
    tokens,
    over,
    pass,
    /** The methods that were called, without reads. */
    called: () => session.asked.map(({ method }) => method).filter((method) => !method.endsWith(".Get")),
    asked: (name: string) => session.asked.filter(({ method }) => method === `CandidateService.${name}`),
    async choose(token: bigint) {
      session.candidate?.onPending(PendingHold.fromPartial({ candidate: "me", token }));
      await pass();
    },
    async return() {
      returns.at(-1)?.();
      await pass();
    },
    async stop() {
      stop.abort();
      await pass();
      await over;
    },
  };
}

describe("a coordinated campaign", () => {
  it("[86] registers under its holder's name, renews every sixth of its validity, and after every reconnect", async () => {
    const test = await standing({
      binaryVersion: "1.21.0",
      compatibilityVersion: "1.20.0",
      zone: "a",
      labels: { x: "1" },
    });
    expect(test.asked("Register").at(-1)?.request).toMatchObject({
      candidate: { lease: { namespace: "a", name: "b" }, name: "me" },
      spec: {
        binaryVersion: "1.21.0",
        compatibilityVersion: "1.20.0",
        strategy: { kind: StrategyKind.OLDEST_COMPATIBILITY_VERSION },
        preference: CandidatePreference.NEUTRAL,
        zone: "a",
        labels: { x: "1" },
        validity: { seconds: 1_800n },
        timing: { leaseDuration: { seconds: 1n, nanos: 500_000_000 } },
      },
    });
    await test.pass(299_999);
    expect(test.asked("Ack")).toHaveLength(0);
    await test.pass(1);
    expect(test.asked("Ack").at(-1)?.request).toMatchObject({ answers: [{ pingNumber: 0n }] });
    await test.pass(300_000);
    expect(test.asked("Ack")).toHaveLength(2);
    test.session.tell("connected");
    await test.pass();
    expect(test.asked("Ack"), "a reconnect renews at once").toHaveLength(3);
    test.answers.set("CandidateService.Ack", async () => ({ renewalRevisions: [0n] }));
    await test.pass(300_000);
    expect(test.asked("Register"), "one that was collected registers again").toHaveLength(2);
    await test.stop();
  });

  it("[86] answers a ping that it missed while its session was broken", async () => {
    const test = await standing();
    test.answers.set("CandidateService.Get", async () => ({ candidate: { ping: { number: 7n, answeredNumber: 6n } } }));
    test.session.tell("connected");
    await test.pass();
    expect(test.asked("Ack").map(({ request }) => request)).toMatchObject([
      { answers: [{ pingNumber: 0n }] },
      { answers: [{ pingNumber: 7n }] },
    ]);
    await test.stop();
  });

  it("[80] accepts what it was chosen for, once for each token, and claims only what may be left to candidates", async () => {
    const test = await standing();
    await test.pass(60_000);
    expect(test.session.claims, "the lease has no fallback delay").toHaveLength(0);
    const lease = Lease.fromPartial({ spec: { fallbackDelay: { seconds: 5n } } });
    test.answers.set("LeaseService.Get", async () => ({ lease }));
    await test.pass(239_999);
    expect(test.session.claims, "it reads the lease when it renews").toHaveLength(0);
    await test.pass(1);
    await test.pass(60_000);
    expect(test.session.claims.map(({ request }) => request.fallbackCandidate)).toEqual(["me"]);
    await test.choose(50n);
    await test.choose(50n);
    expect(test.tokens).toEqual([50n]);
    expect(test.session.accepts).toHaveLength(1);
    expect(test.session.lastClaim.options.signal?.aborted, "it leaves the queue").toBe(true);
    await test.return();
    await test.choose(51n);
    expect(test.tokens).toEqual([50n, 51n]);
    await test.stop();
  });

  it("claims at once under NoCoordination, where there is no choice to wait for", async () => {
    const test = await standing({ binaryVersion: "1.20.0", strategy: "NoCoordination" });
    expect(test.session.claims.map(({ request }) => request.fallbackCandidate)).toEqual(["me"]);
    await test.stop();
  });

  it("goes on standing when an accept came too late", async () => {
    const test = await standing();
    const { accepting } = test.session;
    test.session.accepting = () => Promise.reject(refusal("ACCEPT_TOO_LATE"));
    await test.choose(50n);
    expect(test.tokens).toEqual([]);
    expect(test.events.at(-1)).toMatchObject({ kind: "claim-failed", error: { reason: "ACCEPT_TOO_LATE" } });
    test.session.accepting = accepting;
    await test.choose(51n);
    expect(test.tokens).toEqual([51n]);
    await test.stop();
  });

  it("[71] on an end of term it stops at once, releases, and stays a candidate", async () => {
    const test = await standing();
    await test.choose(50n);
    test.session.lastKept.listener.onEndOfTerm({ successor: "c", cleared: false, reason: "" });
    await test.pass();
    expect(test.session.releases.map(({ items }) => items[0]?.token)).toEqual([50n]);
    expect(test.asked("Withdraw")).toHaveLength(0);
    await test.stop();
  });

  it("[88] withdraws before it gives its last term back when it is stopped, and after it with `once`", async () => {
    const stopped = await standing();
    await stopped.choose(50n);
    stopped.session.releasing = async () => {
      expect(stopped.asked("Withdraw")).toHaveLength(1);
      return { released: [true], revision: 9n };
    };
    await stopped.stop();
    expect(stopped.session.releases).toHaveLength(1);
    const once = await standing(undefined, { once: true });
    await once.choose(50n);
    await once.return();
    await once.over;
    expect(once.called()).toEqual(["CandidateService.Register", "CandidateService.Withdraw"]);
    expect(once.session.releases).toHaveLength(1);
  });

  it("rejects when the registration can never succeed", async () => {
    const test = await standing({ binaryVersion: "1.20.0" });
    await test.stop();
    const { client, session } = clientUnderTest();
    session.answer = () =>
      Promise.reject(new TenureError({ code: "INVALID_ARGUMENT", reason: "INVALID", message: "not a version" }));
    const over = client.lead("a/b", { coordinated: { binaryVersion: "one" } }, () => undefined);
    await expect(over).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const lead = (coordinated: object) =>
      client.lead("a/b", { coordinated: { binaryVersion: "1.0.0", ...coordinated } }, () => undefined);
    await expect(lead({ strategy: "foo" })).rejects.toMatchObject({ details: { field: "coordinated.strategy" } });
    await expect(lead({ priority: 0 })).rejects.toMatchObject({ details: { field: "coordinated.priority" } });
  });
});
