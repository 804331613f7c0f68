import { describe, expect, test } from "vitest";
import { startNatsCluster } from "./nats-cluster.ts";
import { rawRequest } from "./raw-request.ts";
import { waitFor } from "./wait-for.ts";

const stream = JSON.stringify({ name: "KEPT", subjects: ["kept"], storage: "file", num_replicas: 3 });

describe("a test cluster", () => {
  test("has a leader, takes a stream of three replicas at once, and loses nothing with any one member", async () => {
    await using cluster = await startNatsCluster(3);
    expect(new Set(cluster.urls).size).toBe(3);
    const leader = await cluster.waitUntilReady();
    expect(await rawRequest(leader.url, "$JS.API.STREAM.CREATE.KEPT", stream)).not.toContain("error");
    expect(await rawRequest(leader.url, "kept", "before")).toContain('"seq":1');
    await leader.kill9();
    const next = await cluster.waitUntilReady();
    expect(next.name).not.toBe(leader.name);
    // The stream elects a leader of its own; until then nothing answers.
    await waitFor(async () => (await rawRequest(next.url, "kept", "after", 1000)).includes('"stream":"KEPT"'));
    await leader.restart();
    await cluster.waitUntilReady();
    const answer = await waitFor(() => rawRequest(leader.url, "$JS.API.STREAM.MSG.GET.KEPT", '{"seq":1}', 1000));
    expect(answer).toContain(`"data":"${Buffer.from("before").toString("base64")}"`);
  });

  test("goes on while a member that is not the leader is paused", async () => {
    await using cluster = await startNatsCluster(3);
    const leader = await cluster.waitUntilReady();
    const follower = cluster.servers.find((server) => server !== leader);
    await follower?.pause();
    expect(await rawRequest(leader.url, "$JS.API.INFO", "")).toContain("account_info_response");
    follower?.resume();
    expect((await cluster.waitUntilReady()).running).toBe(true);
  });
});
