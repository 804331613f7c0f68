import { describe, expect, it } from "vitest";
import { allowedRestMs, World } from "./testing/world.ts";

describe("a replica's tail", () => {
  it("rests while every partition is the replica's own, as long as its listener allows", async () => {
    await using world = new World();
    const { replica } = await world.join("a", { partitions: 2 });
    expect(replica.restMs()).toBe(0);
    replica.at(0).takeOver(false);
    await world.run(20);
    expect(replica.restMs()).toBe(0);
    replica.at(1).takeOver(false);
    await world.run(20);
    expect([replica.at(0).role, replica.at(1).role]).toEqual(["owning", "owning"]);
    expect(replica.restMs()).toBe(allowedRestMs);
  });

  it("rests no more once another owns one of them", async () => {
    await using world = new World();
    const { replica } = await world.join("a");
    replica.at(0).takeOver(false);
    await world.run(20);
    expect(replica.restMs()).toBe(allowedRestMs);
    const other = await world.join("b");
    other.replica.at(0).takeOver(false);
    await world.run(20);
    expect([replica.at(0).role, other.replica.at(0).role]).toEqual(["following", "owning"]);
    expect(replica.restMs()).toBe(0);
  });
});
