import {
  Answer,
  DecisionOutcome,
  ElectionServiceDryRunRequest,
  ElectionServiceExplainRequest,
  ElectionServiceObserveRequest,
  ElectionServicePreemptRequest,
  ElectionServiceSetStrategyRequest,
  ElectionServiceStepDownRequest,
  LeadershipState,
  StrategyKind,
} from "@tenure/contracts";
import { waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Deployment, startDeployment } from "./deployment.ts";
import { leaseOf, StandIn } from "./stand-in.ts";

const key = (name: string) => ({ namespace: "tests", name });

describe("what operators ask of elections", () => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await startDeployment();
  }, 120_000);

  afterAll(() => deployment[Symbol.asyncDispose](), 60_000);

  /** A lease that `a` leads, with an equal `b`. */
  async function led(lease: string) {
    const a = new StandIn(deployment, lease, "a");
    const b = new StandIn(deployment, lease, "b");
    await a.register();
    const token = await a.lead();
    await b.register();
    return { a, b, token };
  }

  it("Explain gives the ranked table with a reason for each place, now and for a recorded decision", async () => {
    const { token } = await led("explain");
    const request = ElectionServiceExplainRequest.fromPartial({
      lease: key("explain"),
      read: { minRevision: (await leaseOf(deployment, "explain"))?.revision ?? 0n },
    });
    const now = await deployment.elections.explain(request);
    expect(now.decision).toMatchObject({ holder: "a", outcome: DecisionOutcome.KEPT, id: "" });
    expect(now.decision?.ranking.map(({ candidate, rank }) => [candidate?.key?.name, rank])).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
    expect(now.decision?.ranking[1]?.reason).toMatch(/^after a by/);
    const [decisionId = ""] = now.recordedDecisionIds;
    const past = await deployment.elections.explain({ ...request, decisionId });
    expect(past.decision).toMatchObject({ id: decisionId, outcome: DecisionOutcome.ELECTED, winner: "a" });
    expect(past.decision?.ranking[0]).toMatchObject({ answer: Answer.PING, rank: 1 });
    await expect(deployment.elections.explain({ ...request, decisionId: "none" })).rejects.toMatchObject({
      code: "NOT_FOUND",
      reason: "DECISION_NOT_FOUND",
    });
    expect(token).toBeGreaterThan(0n);
  }, 120_000);

  it("DryRun says who would lead without its leader, under another strategy, and changes nothing", async () => {
    await led("what-if");
    const before = await leaseOf(deployment, "what-if");
    const ask = (
      assumption: NonNullable<Parameters<typeof ElectionServiceDryRunRequest.fromPartial>[0]["hypotheses"]>[0],
    ) =>
      deployment.elections.dryRun(
        ElectionServiceDryRunRequest.fromPartial({
          lease: key("what-if"),
          hypotheses: [assumption],
          read: { minRevision: before?.revision ?? 0n },
        }),
      );
    const gone = await ask({ assumption: { $case: "candidateGone", value: "a" } });
    expect(gone).toMatchObject({ leaderChanges: true, after: { winner: "b" } });
    const upgraded = await ask({
      assumption: { $case: "candidate", value: { name: "b", spec: { compatibilityVersion: "1.19.0" } } },
    });
    expect(upgraded).toMatchObject({
      leaderChanges: true,
      after: { outcome: DecisionOutcome.END_OF_TERM, winner: "b" },
    });
    const same = await ask({ assumption: { $case: "candidateSilent", value: "b" } });
    expect(same.leaderChanges).toBe(false);
    expect((await leaseOf(deployment, "what-if"))?.revision).toBe(before?.revision);
    await expect(
      deployment.elections.dryRun(ElectionServiceDryRunRequest.fromPartial({ lease: key("what-if") })),
    ).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  }, 120_000);

  it("SetStrategy refuses an expression that does not compile, and shows what a good one leads to", async () => {
    await led("strategy");
    const set = (expression: string, dryRun: boolean) =>
      deployment.elections.setStrategy(
        ElectionServiceSetStrategyRequest.fromPartial({
          lease: key("strategy"),
          strategy: { kind: StrategyKind.EXPRESSION, expression },
          dryRun,
        }),
      );
    await expect(set("candidate.name +", false)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      reason: "EXPRESSION_INVALID",
    });
    const { consequence } = await set("candidate.name == 'b' ? 1 : 0", true);
    expect(consequence?.ranking[0]?.candidate?.key?.name).toBe("b");
    expect((await leaseOf(deployment, "strategy"))?.strategy?.strategy?.kind).toBe(
      StrategyKind.OLDEST_COMPATIBILITY_VERSION,
    );
  }, 120_000);

  it("[69] Preempt asks the candidate first, marks the term, and the candidate follows; the former holder sits out", async () => {
    const { a, b, token } = await led("preempt");
    const preempted = deployment.elections.preempt(
      ElectionServicePreemptRequest.fromPartial({ candidate: b.key, note: { reason: "drill" } }),
    );
    await b.answer(await b.asked());
    const { lease } = await preempted;
    expect(lease?.endOfTerm).toMatchObject({ preferredHolder: "b", token });
    await a.release(token);
    expect(await b.lead()).toBeGreaterThan(token);
    await expect(
      deployment.elections.preempt(
        ElectionServicePreemptRequest.fromPartial({ candidate: a.key, note: { reason: "back" } }),
      ),
    ).rejects.toMatchObject({ reason: "CANDIDATE_NOT_ELECTABLE" });
  }, 120_000);

  it("StepDown asks the holder to finish for whoever is best without it, and Observe tells of it", async () => {
    const { a, b, token } = await led("step-down");
    const stop = new AbortController();
    const seen: string[] = [];
    const observing = (async () => {
      const request = ElectionServiceObserveRequest.fromPartial({ leases: [key("step-down")] });
      for await (const { leaderships } of deployment.elections.observe(request, { signal: stop.signal })) {
        for (const { hold, state } of leaderships) seen.push(`${state} ${hold?.holder ?? ""}`);
        if (seen.at(-1) === `${LeadershipState.LED} b`) return;
      }
    })();
    await deployment.elections.stepDown(
      ElectionServiceStepDownRequest.fromPartial({ lease: key("step-down"), note: { reason: "drill" } }),
    );
    await a.release(token);
    await b.lead();
    await observing;
    stop.abort();
    expect(seen.map((line) => line.split(" ")[1])).toContain("b");
    expect(seen[0]).toBe(`${LeadershipState.LED} a`);
    expect(seen).toContain(`${LeadershipState.ENDING} a`);
  }, 120_000);

  it("[52] a candidate with a live session counts as answered (rule 19)", async () => {
    const stop = new AbortController();
    await using tenure = await deployment.connect("alive");
    const options = {
      signal: stop.signal,
      coordinated: { binaryVersion: "1.20.0" },
      onOverrun: "signal-only",
    } as const;
    let isLeading = false;
    const over = tenure.lead("tests/alive", options, async (term) => {
      isLeading = true;
      await new Promise((resolve) => term.signal.addEventListener("abort", resolve, { once: true }));
    });
    await waitFor(() => isLeading, { timeoutMs: 30_000, describe: "the candidate to lead" });
    const look = async () => {
      const request = ElectionServiceExplainRequest.fromPartial({ lease: key("alive") });
      const { decision } = await deployment.elections.explain(request);
      return decision?.ranking[0]?.answer === Answer.LIVE_STREAM;
    };
    await waitFor(look, { timeoutMs: 30_000, describe: "the candidate to be live" });
    stop.abort();
    await over;
    expect((await leaseOf(deployment, "alive"))?.candidates, "it withdrew at its clean stop [88]").toBe(0);
  }, 120_000);

  it("Rehearse is not served by this version", async () => {
    const request = { lease: key("step-down"), steps: [], skewPolicy: undefined, read: undefined };
    await expect(deployment.elections.rehearse(request)).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
  });
});
