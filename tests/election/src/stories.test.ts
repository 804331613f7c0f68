import { seededRandom } from "@tenure/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Deployment, startDeployment } from "./deployment.ts";
import { Fleet } from "./fleet.ts";
import { leaseOf } from "./stand-in.ts";
import { playStories } from "./story.ts";

const [old, newer] = ["1.20.0", "1.21.0"];
const namesOf = (size: number) => Array.from({ length: size }, (_, place) => `n${place}`);

describe("the stories of coordinated election, with real processes", () => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await startDeployment();
  }, 120_000);

  afterAll(() => deployment[Symbol.asyncDispose](), 60_000);

  it.each([3, 5])(
    "[69] [71] [92] %i nodes: a canary by strategy, an upgrade node by node, a rollback",
    async (size) => {
      await using fleet = new Fleet(deployment.grpc(), `tests/stories-${size}`);
      await playStories(deployment, fleet, namesOf(size));
      expect(fleet.versions, "no new one before the last old one is gone").toEqual([old, newer, old, newer, old]);
      expect(fleet.overlaps).toEqual([]);
    },
    300_000,
  );

  it
    .runIf(process.env.TENURE_LONG === "1")
    .each([3, 5].flatMap((size) => Array.from({ length: 20 }, (_, run) => ({ size, seed: run + 1 }))))(
    "[92] $size nodes with random crashes, seed $seed",
    async ({ size, seed }) => {
      const random = seededRandom(seed);
      await using fleet = new Fleet(deployment.grpc(), `tests/crashes-${size}-${seed}`);
      await playStories(deployment, fleet, namesOf(size), () => fleet.crashOne(random));
      expect(fleet.versions).toEqual([old, newer, old, newer, old]);
      expect(fleet.overlaps).toEqual([]);
    },
    600_000,
  );

  it("[56] [82] a crash: the next one leads when the term has run out, with its own duration and the same strategy", async () => {
    await using fleet = new Fleet(deployment.grpc(), "tests/crash");
    for (const name of ["a", "b"]) await fleet.start(name, { binaryVersion: old });
    await fleet.leads("a");
    const before = await leaseOf(deployment, "crash");
    await fleet.kill("a");
    await fleet.leads("b");
    expect(fleet.overlaps).toEqual([]);
    const after = await leaseOf(deployment, "crash");
    expect(after?.holds[0]?.leaseDuration).toEqual({ seconds: 5n, nanos: 0 });
    expect(after?.strategy?.strategy).toEqual(before?.strategy?.strategy);
  }, 180_000);

  it("[105] [106] clients that race: a higher key has the holder finish, an old client without one makes way", async () => {
    await using fleet = new Fleet(deployment.grpc(), "tests/race");
    await fleet.run("plain", {});
    await fleet.leads("plain");
    await fleet.run("low", { holderKey: "1.9.0", keyComparison: "highestVersion" });
    await fleet.leads("low");
    await fleet.run("high", { holderKey: "1.10.0", keyComparison: "highestVersion" });
    const { token } = await fleet.leads("high");
    expect(fleet.led.map(({ name }) => name)).toEqual(["plain", "low", "high"]);
    expect(fleet.overlaps, "the holder had returned before").toEqual([]);
    await fleet.run("thief", { holderKey: "1.11.0", keyComparison: "highestVersion", takeOver: "steal" });
    expect((await fleet.leads("thief")).token, "what is stolen is fenced by a greater token").toBeGreaterThan(token);
  }, 180_000);
});
