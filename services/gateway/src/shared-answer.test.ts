import { FakeClock } from "@tenure/kernel";
import { expect, it } from "vitest";
import { sharedAnswer } from "./shared-answer.ts";

it("asks once for all within its time, and anew afterwards", async () => {
  const clock = new FakeClock({ startMs: 1_000 });
  let asked = 0;
  const answer = sharedAnswer(clock, 500, async () => ++asked);
  expect(await Promise.all([answer(), answer()])).toEqual([1, 1]);
  await clock.advance(499);
  expect(await answer()).toBe(1);
  await clock.advance(1);
  expect(await answer()).toBe(2);
});
