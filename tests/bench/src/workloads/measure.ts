import { systemClock } from "@tenure/kernel";
import type { Figures } from "../benchmark.ts";
import { quantile } from "../statistics.ts";

/** The figures of operations that took so long each, and all together. */
export function figuresOf(count: number, tookMs: number, latenciesMs: readonly number[]): Figures {
  return {
    operations: count,
    rate: (1_000 * count) / tookMs,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  };
}

/** Lanes that each do one thing after the other until the time is over. */
export async function inLanes(lanes: number, durationMs: number, act: (lane: number) => Promise<unknown>) {
  const startedAtMs = systemClock.now();
  const endAtMs = startedAtMs + durationMs;
  const latenciesMs: number[] = [];
  const work = async (_: unknown, lane: number) => {
    for (let nowMs = systemClock.now(); nowMs < endAtMs; ) {
      const fromMs = nowMs;
      await act(lane);
      nowMs = systemClock.now();
      latenciesMs.push(nowMs - fromMs);
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
  return figuresOf(latenciesMs.length, systemClock.now() - startedAtMs, latenciesMs);
}
