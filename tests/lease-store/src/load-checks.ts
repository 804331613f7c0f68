import { systemClock } from "@tenure/kernel";
import { type Deployment, waitFor } from "@tenure/testkit";
import { expect } from "vitest";
import type { Load } from "./load.ts";
import { read } from "./requests.ts";

/** Nothing acknowledged is lost, and nobody but the last acknowledged holder holds. */
export async function checkLoad(deployment: Deployment, load: Load): Promise<void> {
  expect(load.surprises).toEqual([]);
  for (const tokens of load.tokens.values()) {
    expect(tokens.every((token, index) => index === 0 || token > (tokens[index - 1] ?? 0n))).toBe(true);
  }
  for (const [name, expected] of load.expected) {
    const holds = (await read(deployment, name)).holds.map(({ holder, token }) => ({ holder, token }));
    expect(holds).toEqual(expected === undefined ? [] : [expected]);
  }
}

/** Waits until the load has had this rate for that long, and tells the rate of that span. */
export async function sustained(load: Load, perSecond: number, forMs: number): Promise<number> {
  const rate = () => {
    const now = systemClock.now();
    return Math.round((load.during(now - forMs, now).length * 1_000) / forMs);
  };
  const describe = `${perSecond} operations a second for ${forMs} ms`;
  await waitFor(() => rate() >= perSecond, { describe, timeoutMs: 90_000, intervalMs: 100 });
  return rate();
}

/** Waits until so many more operations were acknowledged. */
export async function running(load: Load, count: number): Promise<void> {
  const wanted = load.acknowledged.length + count;
  await waitFor(() => load.acknowledged.length >= wanted, { describe: `${count} operations`, timeoutMs: 60_000 });
}
