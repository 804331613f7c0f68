import { HoldOrigin } from "@tenure/contracts";
import type { CoordinatedOptions } from "@tenure/sdk";
import { waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Deployment, startDeployment } from "./deployment.ts";
import { leaseOf } from "./stand-in.ts";

describe("coordinated clients without a coordinator", () => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await startDeployment({ elections: 0 });
  }, 120_000);

  afterAll(() => deployment[Symbol.asyncDispose](), 60_000);

  /** Leads until stopped; tells the tokens of its terms. */
  async function stand(name: string, lease: string, coordinated: CoordinatedOptions) {
    const tenure = await deployment.connect(name);
    const stop = new AbortController();
    const tokens: bigint[] = [];
    const options = { signal: stop.signal, coordinated, onOverrun: "signal-only" } as const;
    const over = tenure.lead(`tests/${lease}`, options, async (term) => {
      tokens.push(term.token);
      await new Promise((resolve) => term.signal.addEventListener("abort", resolve, { once: true }));
    });
    return {
      tokens,
      async [Symbol.asyncDispose]() {
        stop.abort();
        await over;
        await tenure.close();
      },
    };
  }

  it("[80] [81] claim a free lease themselves only after its fallback delay; a returning coordinator takes the reins", async () => {
    await using patient = await stand("patient", "no-fallback", { binaryVersion: "1.20.0" });
    await using old = await stand("old", "fallback", { binaryVersion: "1.20.0", fallbackDelay: "500ms" });
    await waitFor(() => old.tokens.length > 0, { timeoutMs: 30_000, describe: "the fallback" });
    const lease = await leaseOf(deployment, "fallback");
    expect(lease?.holds[0]).toMatchObject({ holder: "old", candidate: "old", origin: HoldOrigin.FALLBACK });
    expect(await leaseOf(deployment, "no-fallback"), "nobody wrote the lease without a delay").toBeUndefined();
    expect(patient.tokens).toEqual([]);

    deployment.start("election", "election-1");
    await waitFor(() => patient.tokens.length === 1, { timeoutMs: 60_000, describe: "the first election" });
    await using older = await stand("older", "fallback", { binaryVersion: "1.19.0" });
    await waitFor(() => older.tokens.length === 1, { timeoutMs: 60_000, describe: "the better candidate to lead" });
    expect(older.tokens[0]).toBeGreaterThan(old.tokens[0] ?? 0n);
    expect((await leaseOf(deployment, "fallback"))?.holds[0]?.origin).toBe(HoldOrigin.ELECTED);
  }, 180_000);
});
