import {
  CandidateServiceCordonRequest,
  CandidateServiceRegisterRequest,
  CandidateServiceSetPriorityRequest,
  CandidateServiceUncordonRequest,
  CandidateServiceUpdateRequest,
  ElectionServiceCancelEndOfTermRequest,
  ElectionServiceDryRunRequest,
  ElectionServiceExplainRequest,
  ElectionServiceGetRequest,
  ElectionServiceListRequest,
  ElectionServicePreemptRequest,
  ElectionServiceSetStrategyRequest,
  ElectionServiceStepDownRequest,
  Exclusion,
  ReadConsistency,
  StrategyKind,
  StrategySource,
} from "@tenure/contracts";
import type { Tenure } from "@tenure/sdk";
import { waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Deployment, startDeployment } from "./deployment.ts";
import { leaseOf, StandIn } from "./stand-in.ts";

const key = (name: string) => ({ namespace: "tests", name });
const fresh = { consistency: ReadConsistency.LINEARIZABLE };

describe("every call of elections, on the bus of a secured deployment and through gRPC", () => {
  let deployment: Deployment;
  let outside: Tenure;

  beforeAll(async () => {
    deployment = await startDeployment({ isSecured: true });
    outside = await deployment.connect("outside");
  }, 120_000);

  afterAll(async () => {
    await outside?.close();
    await deployment?.[Symbol.asyncDispose]();
  }, 60_000);

  /** A lease that `a` leads, with `b` beside it. */
  async function led(lease: string) {
    const a = new StandIn(deployment, lease, "a");
    const b = new StandIn(deployment, lease, "b");
    await a.register();
    const token = await a.lead();
    await b.register();
    return { a, b, token };
  }

  it("List shows elections in order, page by page, with or without candidates, the same either way", async () => {
    for (const name of ["list-2", "list-1", "list-3"]) await new StandIn(deployment, name, "a").register();
    const request = ElectionServiceListRequest.fromPartial({
      selector: { namespace: "tests", namePrefix: "list-" },
      read: fresh,
      page: { size: 2 },
    });
    const first = await deployment.elections.list(request);
    expect(first.elections.map(({ candidates, leadership }) => [leadership?.lease?.name, candidates.length])).toEqual([
      ["list-1", 1],
      ["list-2", 1],
    ]);
    await new StandIn(deployment, "list-0", "a").register();
    const page = { size: 2, token: first.page?.nextToken ?? "" };
    const last = await outside.session.call("ElectionService.List", { ...request, page, summaryOnly: true });
    expect(last.elections.map(({ candidates, leadership }) => [leadership?.lease?.name, candidates])).toEqual([
      ["list-3", []],
    ]);
    expect([last.page?.nextToken, last.page?.revision]).toEqual(["", first.page?.revision]);
    const { elections: anew } = await deployment.elections.list(request);
    expect(anew.map(({ leadership }) => leadership?.lease?.name)).toEqual(["list-0", "list-1"]);
    const selector = { namespace: "tests", name: "nobody-stands" };
    expect(
      (await deployment.elections.list({ ...request, selector: { ...selector, namePrefix: "", labels: undefined } }))
        .elections,
    ).toEqual([]);
  }, 120_000);

  it("Get, Explain, DryRun, SetStrategy, StepDown, Preempt and CancelEndOfTerm answer through gRPC as on the bus", async () => {
    const { a, b } = await led("both-ways");
    const lease = key("both-ways");
    const note = { reason: "drill" };
    const { elections } = deployment;
    const { session } = outside;
    const get = ElectionServiceGetRequest.fromPartial({ lease, read: fresh });
    const [inner, outer] = [await elections.get(get), await session.call("ElectionService.Get", get)];
    expect(outer.election?.candidates.map(({ key: one }) => one?.name)).toEqual(["a", "b"]);
    expect(outer.election?.leadership).toEqual(inner.election?.leadership);
    const explain = ElectionServiceExplainRequest.fromPartial({ lease, read: fresh });
    expect((await session.call("ElectionService.Explain", explain)).decision?.holder).toBe("a");
    const hypotheses = [{ assumption: { $case: "candidateGone", value: "a" } as const }];
    const dryRun = ElectionServiceDryRunRequest.fromPartial({ lease, hypotheses, read: fresh });
    expect((await session.call("ElectionService.DryRun", dryRun)).after?.winner).toBe("b");
    const strategy = { kind: StrategyKind.PRIORITY };
    const set = ElectionServiceSetStrategyRequest.fromPartial({ lease, strategy, dryRun: true, note });
    expect((await session.call("ElectionService.SetStrategy", set)).consequence?.ranking).toHaveLength(2);
    const { lease: changed } = await session.call("ElectionService.SetStrategy", { ...set, dryRun: false });
    expect(changed?.strategy).toMatchObject({ strategy, source: StrategySource.OPERATOR });
    const stepDown = ElectionServiceStepDownRequest.fromPartial({ lease, note, dryRun: true });
    for (const answer of [
      await elections.stepDown(stepDown),
      await session.call("ElectionService.StepDown", stepDown),
    ]) {
      expect(answer.lease?.endOfTerm, "a dry run marks nothing").toBeUndefined();
    }
    const preempt = ElectionServicePreemptRequest.fromPartial({ candidate: b.key, note });
    const preempted = session.call("ElectionService.Preempt", preempt);
    await b.answer(await b.asked());
    expect((await preempted).lease?.endOfTerm?.preferredHolder).toBe("b");
    const cancel = ElectionServiceCancelEndOfTermRequest.fromPartial({ lease, note });
    expect((await session.call("ElectionService.CancelEndOfTerm", cancel)).lease?.endOfTerm).toBeUndefined();
    await a.release((await leaseOf(deployment, "both-ways"))?.lastToken ?? 0n);
  }, 120_000);

  it("[104] SetPriority and Cordon through gRPC change who can be chosen and how it ranks, and Explain says why", async () => {
    const { a, b, token } = await led("weights");
    const chosen = b.chosen();
    const { elections } = deployment;
    const { session } = outside;
    const row = async () => {
      const request = ElectionServiceExplainRequest.fromPartial({ lease: key("weights"), read: fresh });
      return (await elections.explain(request)).decision?.ranking.find(({ candidate }) => candidate?.key?.name === "b");
    };
    const note = { reason: "drill" };
    const weigh = (value: number) => {
      const request = CandidateServiceSetPriorityRequest.fromPartial({ candidate: b.key, priority: { value } });
      return session.call("CandidateService.SetPriority", request);
    };
    await weigh(7);
    expect(await row()).toMatchObject({ rank: 1, reason: "before a by priority (7, a has none)" });
    const cordon = CandidateServiceCordonRequest.fromPartial({ candidate: b.key, note });
    await session.call("CandidateService.Cordon", cordon);
    expect(await row()).toMatchObject({
      rank: 0,
      exclusion: Exclusion.CORDONED,
      reason: "is cordoned by anonymous: drill",
    });
    const uncordon = CandidateServiceUncordonRequest.fromPartial({ candidate: b.key, note });
    await session.call("CandidateService.Uncordon", uncordon);
    expect(await row()).toMatchObject({ rank: 1 });
    await expect(weigh(0)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await a.release(token);
    expect(await chosen).toBeGreaterThan(token);
  }, 120_000);

  it("[41] a candidate without lease, version and strategy is refused, with each that is missing", async () => {
    const request = CandidateServiceRegisterRequest.fromPartial({ candidate: { name: "a" }, spec: {} });
    const refused = await deployment.candidates.register(request).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "INVALID_ARGUMENT" });
    const { violations = [] } = (refused as { details: { violations?: readonly { field: string }[] } }).details;
    const fields = violations.map(({ field }) => field);
    for (const field of ["candidate.lease", "spec.binary_version", "spec.strategy"]) {
      expect(
        fields.some((name) => name.startsWith(field)),
        `${field} of ${fields.join(", ")}`,
      ).toBe(true);
    }
  }, 60_000);

  it("an expression that does not compile is refused with the candidate that brings it, new or changed", async () => {
    const stands = new StandIn(deployment, "expressions", "a");
    const versions = { binaryVersion: "1.20.0", compatibilityVersion: "1.20.0" };
    const strategy = { kind: StrategyKind.EXPRESSION, expression: "candidate.name" };
    const problem = {
      code: "INVALID_ARGUMENT",
      reason: "EXPRESSION_INVALID",
      details: { violations: [{ field: "spec.strategy.expression" }] },
    };
    const register = CandidateServiceRegisterRequest.fromPartial({
      candidate: stands.key,
      spec: { ...versions, strategy },
    });
    await expect(deployment.candidates.register(register)).rejects.toMatchObject(problem);
    await stands.register();
    const update = CandidateServiceUpdateRequest.fromPartial({
      candidate: stands.key,
      spec: { ...versions, strategy },
    });
    await expect(deployment.candidates.update(update)).rejects.toMatchObject(problem);
  }, 60_000);

  it("a candidate of a client outside leads under the accounts that a deployment has", async () => {
    const stop = new AbortController();
    let token = 0n;
    const options = {
      signal: stop.signal,
      coordinated: { binaryVersion: "1.20.0" },
      onOverrun: "signal-only",
    } as const;
    const over = outside.lead("tests/secured", options, async (term) => {
      token = term.token;
      await new Promise((resolve) => term.signal.addEventListener("abort", resolve, { once: true }));
    });
    await waitFor(() => token > 0n, { timeoutMs: 60_000, describe: "the candidate to lead" });
    stop.abort();
    await over;
  }, 120_000);
});
