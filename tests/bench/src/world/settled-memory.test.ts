import { FakeClock } from "@tenure/kernel";
import { expect, it } from "vitest";
import { settledMemory } from "./settled-memory.ts";

it("waits for the last step in which memory is given back, and no longer", async () => {
  const clock = new FakeClock();
  const bytesAt = (ms: number) => (ms < 12_000 ? 210 : ms < 37_000 ? 130 : 76) + (Math.round(ms / 1_000) % 2);
  let settled: number | undefined;
  void settledMemory(async () => bytesAt(clock.now()), clock).then((bytes) => {
    settled = bytes;
  });
  for (let second = 0; second < 37 + 44; second += 1) await clock.advance(1_000);
  expect(settled).toBeUndefined();
  await clock.advance(1_000);
  expect(settled).toBe(bytesAt(82_000));
});
