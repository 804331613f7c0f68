import { connect, type Tenure, type Term } from "@tenure/sdk";
import { type Deployment, startDeployment, waitFor } from "@tenure/testkit";
import { expect } from "vitest";
import { type RunOptions, run } from "./command-line.ts";

/** Two candidates for tests/scheduler, of which the older leads; a plain leader of tests/plain; one identity. */
export let deployment: Deployment;
/** Every client of the scene. */
export const clients: Tenure[] = [];
const stop = new AbortController();

/** A client that is closed with the scene. */
export async function client(identity: string, more: Partial<Parameters<typeof connect>[0]> = {}): Promise<Tenure> {
  const common = { namespace: "tests", connectTimeout: "60s", callTimeout: "30s", renewal: "inline" } as const;
  const tenure = await connect({ endpoint: deployment.grpc(), identity, ...common, ...more });
  clients.push(tenure);
  return tenure;
}

/** Leads until its term is asked to end, again and again. */
function leadFor(tenure: Tenure, lease: string, binaryVersion?: string): void {
  const coordinated = binaryVersion === undefined ? {} : { coordinated: { binaryVersion } };
  void tenure
    .lead(lease, { signal: stop.signal, ...coordinated }, async (term: Term) => {
      if (lease === "plain") await term.guard.put("last-run", "noon");
      await new Promise((resolve) => term.signal.addEventListener("abort", resolve, { once: true }));
    })
    .catch(() => undefined);
}

/** Every line that was run. */
export const lines: string[][] = [];

/** Runs a command line against the scene. */
export const see = (line: readonly string[] | string, options?: RunOptions) => {
  const words = typeof line === "string" ? line.split(" ") : line;
  lines.push([...words]);
  return run(deployment.grpc(), ["--timeout", "60s", ...words], options);
};
/** Watches until something is told; gives it. */
export async function firstWatched(line: string): Promise<string> {
  const stopped = new AbortController();
  const onOutput = (out: string): void => {
    if (out.split("\n").slice(0, -1).length > 0) stopped.abort();
  };
  const { code, out } = await see(`${line} -w -o jsonl`, { signal: stopped.signal, onOutput });
  expect(code).toBe(0);
  for (const one of out.trim().split("\n")) JSON.parse(one);
  return out;
}

/** Who leads a lease of the scene; empty if nobody does. */
export const leaderOf = async (lease: string) => (await see(`leader tests/${lease}`)).out.trim();

/** Collects at once, and holds back for a single one. */
const identity = [
  "--minimum-beat-interval=100ms",
  "--collection-grace=0s",
  "--collection-settle=0s",
  "--collection-resync=500ms",
  "--hold-back-minimum=1",
];

/** Starts it. */
export async function openScene(): Promise<void> {
  deployment = await startDeployment({
    services: { "lease-store": 1, gateway: 1, identity: 1, election: 1, migration: 1 },
    args: { identity },
  });
  const n1 = await client("n1");
  leadFor(n1, "scheduler", "1.20.0");
  await waitFor(async () => (await leaderOf("scheduler")) === "n1", { timeoutMs: 60_000 });
  leadFor(await client("n2"), "scheduler", "1.21.0");
  leadFor(await client("p1", { register: { component: "printer", version: "2.0.0" } }), "plain");
  await waitFor(async () => (await leaderOf("plain")) === "p1", { timeoutMs: 60_000 });
  await waitFor(async () => (await see("candidates list tests/scheduler -o name")).out.includes("n2"), {
    timeoutMs: 60_000,
  });
  await waitFor(async () => (await see("guard get last-run --lease tests/plain")).code === 0, { timeoutMs: 60_000 });
}

/** Ends it. */
export async function closeScene(): Promise<void> {
  stop.abort();
  await Promise.all(clients.map((tenure) => tenure.close()));
  await deployment?.[Symbol.asyncDispose]();
}
