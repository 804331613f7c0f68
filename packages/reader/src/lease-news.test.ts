import type { SessionPush } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { LeaseNews } from "./lease-news.ts";
import { LogWorld } from "./testing/log-world.ts";

const lease = "shop/a";

describe("news of a lease", () => {
  it("tell its holder of the end of a term and its candidates of pings and choices, and nothing of others", async () => {
    const world = new LogWorld();
    world.create(lease);
    world.register(lease, "one");
    await using reader = (await world.read()).reader;
    const news = new LeaseNews(reader.hub);
    const pushes: SessionPush["push"][] = [];
    const leave = news.follow(lease, ({ push }) => pushes.push(push));
    const partition = world.partitionOf(lease);
    world.run(partition, [{ kind: "pingCandidates", lease, candidates: ["one"], coordinator: "c" }]);
    const expectedRevision = world.revisionOf(lease);
    world.run(partition, [{ kind: "elect", lease, expectedRevision, candidate: "one", coordinator: "c" }]);
    world.create("shop/b");
    await world.settle();
    const key = { lease: { namespace: "shop", name: "a" }, name: "one" };
    expect(pushes).toMatchObject([
      { $case: "ping", value: { candidate: key, ping: { answeredNumber: 0n } } },
      { $case: "pending", value: { candidate: key, pending: { candidate: "one" } } },
    ]);
    leave();
    world.run(partition, [{ kind: "pingCandidates", lease, candidates: ["one"], coordinator: "c" }]);
    await world.settle();
    expect([pushes.length, reader.hub.listeners]).toEqual([2, 0]);
  });

  it("tell of a mark, of its withdrawal, and of the end with who asked for it", async () => {
    const world = new LogWorld();
    world.create(lease);
    const token = world.acquire(lease);
    await using reader = (await world.read()).reader;
    const news = new LeaseNews(reader.hub);
    const one: string[] = [];
    const two: string[] = [];
    const note = (into: string[]) => (push: SessionPush) => {
      if (push.push?.$case === "endOfTerm") into.push(push.push.value.cleared ? "cleared" : "marked");
      else into.push(push.push?.$case ?? "");
    };
    news.follow(lease, note(one));
    news.follow(lease, note(two));
    const partition = world.partitionOf(lease);
    const mark = { kind: "markEndOfTerm", lease, token, preferredHolder: "" } as const;
    world.run(partition, [{ ...mark, expectedRevision: world.revisionOf(lease) }]);
    world.run(partition, [{ kind: "clearEndOfTerm", lease, expectedRevision: world.revisionOf(lease) }]);
    world.release(lease, token);
    await world.settle();
    expect(one).toEqual(["marked", "cleared", "termEnded"]);
    expect(two).toEqual(one);
  });
});
