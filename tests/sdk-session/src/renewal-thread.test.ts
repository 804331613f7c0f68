import { fileURLToPath } from "node:url";
import type { Keeping, Session } from "@tenure/sdk/session";
import { type ManagedProcess, promisedMs, startScript, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimOf, keptOf, Notes, only } from "./claims.ts";
import { type SessionDeployment, startSessionDeployment, ways } from "./deployment.ts";

let deployment: SessionDeployment;

beforeAll(async () => {
  deployment = await startSessionDeployment(1);
}, 60_000);

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
});

/** Keeps this thread from running anything else. */
function block(forMs: number): void {
  const untilMs = performance.now() + forMs;
  while (performance.now() < untilMs);
}

/** Waits until the thread renews: a term is proven anew while this one runs nothing. */
async function takenOver(session: Session, keeping: Keeping): Promise<void> {
  const isProvenMeanwhile = (): boolean => {
    const sinceMs = session.clock.now();
    block(200);
    return keeping.provenAtMs > sinceMs;
  };
  await waitFor(isProvenMeanwhile, { describe: "renewals by the thread", timeoutMs: 30_000 });
}

describe.each(ways)("the renewing thread over %s", (way) => {
  it("renews while the main thread is busy, and the main thread knows it at once", async () => {
    await using session = await deployment.open(way, {
      renewal: "thread",
      mainSilenceMs: 20_000,
      onStall: "signal-only",
    });
    const granted = only(await session.claim(claimOf("a", [`${way}-busy`])));
    const notes = new Notes();
    using keeping = session.keep(keptOf(granted), notes);
    await takenOver(session, keeping);
    const blockedAtMs = session.clock.now();
    const told = notes.renewed.length;
    block(3_000);
    // Nothing has been told in between, and yet the newest instant is known: the term of 1.5 s was kept throughout.
    expect(notes.renewed.length).toBe(told);
    expect(keeping.provenAtMs).toBeGreaterThan(blockedAtMs + 1_500);
    expect(keeping.provenAtMs).toBeLessThanOrEqual(session.clock.now());
    await waitFor(() => notes.renewed.length > told, { describe: "the news of it" });
    expect(notes.refused).toEqual([]);
  });

  it("stops renewing for a main thread that shows no life, and begins again when it does", async () => {
    await using session = await deployment.open(way, { renewal: "thread", mainSilenceMs: 500, onStall: "signal-only" });
    const granted = only(await session.claim(claimOf("a", [`${way}-silent`], 60_000)));
    const notes = new Notes();
    using keeping = session.keep(keptOf(granted), notes);
    await takenOver(session, keeping);
    const blockedAtMs = session.clock.now();
    block(3_000);
    // The bound, and as much again for the steps in which it is looked at.
    expect(keeping.provenAtMs).toBeLessThan(blockedAtMs + 1_500);
    const backAtMs = session.clock.now();
    await waitFor(() => keeping.provenAtMs > backAtMs, { describe: "renewals after it", timeoutMs: 30_000 });
    expect(notes.missed.map(({ reason }) => reason)).toContain("MAIN_THREAD_SILENT");
    expect(notes.refused).toEqual([]);
  });

  it("tells a refusal, and keeps many holds with one message", async () => {
    await using session = await deployment.open(way, { renewal: "thread" });
    const names = Array.from({ length: 200 }, (_, index) => `${way}-lot-${index}`);
    const granted = await Promise.all(names.map((name) => session.claim(claimOf("a", [name], 60_000)).then(only)));
    const notes = granted.map(() => new Notes());
    const keepings = granted.map((one, index) => session.keep(keptOf(one), notes[index] ?? new Notes()));
    await waitFor(() => notes.every(({ renewed }) => renewed.length >= 5), { describe: "renewals", timeoutMs: 60_000 });
    const [first] = granted.map(keptOf);
    if (first === undefined) throw new Error("there is a first");
    await session.release([{ lease: first.lease, token: first.token }]);
    await waitFor(() => notes[0]?.refused.length === 1, { describe: "the refusal" });
    expect(notes[0]?.refused[0]).toMatchObject({ name: "TenureError", reason: "TERM_EXPIRED" });
    for (const keeping of keepings) keeping[Symbol.dispose]();
  }, 120_000);
});

describe("a main thread that stalls", () => {
  const script = fileURLToPath(new URL("./stalling-holder.mjs", import.meta.url));

  function start(name: string, onStall: string, stallMs: number, when = "later"): ManagedProcess {
    return startScript(script, { args: [deployment.nats.url, name, onStall, String(stallMs), when] });
  }

  it("in the very turn of its grant, before any renewal, is ended within σ as well", async () => {
    const boundMs = promisedMs(1_000);
    await using holder = start("at-once", "exit", 600_000, "at-once");
    await holder.waitForLine("granted");
    expect(await holder.waitForExit()).toEqual({ code: null, signal: "SIGKILL" });
    const line = await holder.waitForLine("tenure: ");
    expect(line).toContain("the term of tests/at-once ended");
    expect(Number(/ended (\d+) ms ago/.exec(line)?.[1])).toBeLessThanOrEqual(boundMs);
  });

  it("past its term is ended with its process within σ, and says why", async () => {
    await using holder = start("stalled", "exit", 600_000);
    await holder.waitForLine("renewed ten times");
    expect(await holder.waitForExit()).toEqual({ code: null, signal: "SIGKILL" });
    const line = await holder.waitForLine("tenure: ");
    expect(line).toContain("the main thread has shown no life");
    expect(line).toContain("the term of tests/stalled ended");
    expect(Number(/ended (\d+) ms ago/.exec(line)?.[1])).toBeLessThanOrEqual(1_000);
  });

  it("for less than its bound goes on as if nothing had been", async () => {
    await using holder = start("short", "exit", 250);
    const back = await holder.waitForLine("back with");
    expect(Number(/(-?\d+) ms/.exec(back)?.[1])).toBeGreaterThan(0);
    await holder.waitForLine("running with");
    expect(holder.exit).toBeUndefined();
  });

  it("is left alone when that was asked for, and knows that its term is over", async () => {
    await using holder = start("lenient", "signal-only", 4_000);
    const back = await holder.waitForLine("back with");
    expect(Number(/(-?\d+) ms/.exec(back)?.[1])).toBeLessThan(0);
    await holder.waitForLine("missed MAIN_THREAD_SILENT");
    expect(holder.exit).toBeUndefined();
  });

  it("because the whole process was stopped is not ended when it continues", async () => {
    await using holder = start("stopped", "exit", 0);
    await holder.waitForLine("running with");
    await holder.pause();
    const from = holder.output.all.length;
    {
      // Another holder's ten renewals measure the pause: longer than the term of 300 ms.
      await using other = start("meanwhile", "exit", 0);
      await other.waitForLine("running with");
    }
    holder.resume();
    await holder.waitForLine("running with", { from: from + 3 });
    await waitFor(() => holder.output.all.slice(from).filter((line) => line.startsWith("running")).length > 20, {
      describe: "a second of running on",
    });
    expect(holder.exit).toBeUndefined();
  });
});
