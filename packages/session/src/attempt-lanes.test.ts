import { Attempt } from "@tenure/contracts";
import { seededRandom } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { AttemptLanes } from "./attempt-lanes.ts";

describe("AttemptLanes", () => {
  it("gives changes at the same time different clients, and counts on in a lane that is free again", () => {
    const lanes = new AttemptLanes(seededRandom(1));
    const first = lanes.take();
    const second = lanes.take();
    lanes.giveBack(first.lane);
    const third = lanes.take();
    const [one, two, three] = [first, second, third].map(({ encoded }) => Attempt.decode(encoded));
    expect(two?.clientId).not.toBe(one?.clientId);
    expect(three).toEqual({ clientId: one?.clientId, number: 2n, settledBelow: 2n });
  });

  it("makes names that the store takes and that no other process makes", () => {
    const [one, other] = [seededRandom(1), seededRandom(2)].map(
      (random) => new AttemptLanes(random).take().lane.clientId,
    );
    expect(one).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
    expect(other).not.toBe(one);
  });
});
