import { hash32 } from "@tenure/core";
import { waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Deployment, startDeployment } from "./deployment.ts";
import { leaseOf, StandIn } from "./stand-in.ts";

const shards = 4;

describe("coordinators that are killed with -9", () => {
  let deployment: Deployment;
  let started = 2;

  beforeAll(async () => {
    deployment = await startDeployment({ elections: 2, electionArgs: [`--shards=${shards}`] });
  }, 120_000);

  afterAll(() => deployment[Symbol.asyncDispose](), 60_000);

  const shardLeases = () => Array.from({ length: shards }, (_, shard) => `election:${shard}`);

  async function coordinatorOf(lease: string): Promise<string> {
    const shard = hash32(`tests/${lease}`) % shards;
    const look = async () => (await leaseOf(deployment, `election:${shard}`, "tenure-system"))?.holds[0]?.holder;
    return await waitFor(look, { timeoutMs: 60_000, describe: `a coordinator of shard ${shard}` });
  }

  /** Kills whoever coordinates a lease, and starts another replica. */
  async function killCoordinator(lease: string): Promise<string> {
    const killed = await coordinatorOf(lease);
    await deployment.kill(killed);
    started += 1;
    deployment.start("election", `election-${started}`, [`--shards=${shards}`]);
    return killed;
  }

  it("[90] share the shards evenly, and each has one at a time", async () => {
    const holders = async () => {
      const leases = await Promise.all(shardLeases().map((name) => leaseOf(deployment, name, "tenure-system")));
      return leases.map((lease) => lease?.holds[0]?.holder ?? "");
    };
    const look = async () => {
      const sorted = (await holders()).toSorted();
      return sorted.join() === "election-1,election-1,election-2,election-2";
    };
    await waitFor(look, { timeoutMs: 60_000, describe: "two shards for each of two coordinators" });
  }, 120_000);

  it("[91] before the ping: the next one asks, elects and sees it accepted", async () => {
    const a = new StandIn(deployment, "before-ping", "a");
    await killCoordinator("before-ping");
    await a.register();
    expect(await a.lead()).toBeGreaterThan(0n);
  }, 120_000);

  it("[91] after the ping: the next one takes the answer", async () => {
    const a = new StandIn(deployment, "after-ping", "a");
    await a.register();
    const ping = await a.asked();
    await killCoordinator("after-ping");
    await a.answer(ping);
    expect(await a.lead()).toBeGreaterThan(0n);
  }, 120_000);

  it("[91] after an answer, before the elect command: the next one waits for the better candidate, and elects it", async () => {
    const a = new StandIn(deployment, "after-acks", "a");
    const b = new StandIn(deployment, "after-acks", "b");
    await a.register("1.20.0");
    await b.register("1.19.0");
    const [, ping] = await Promise.all([a.asked().then((number) => a.answer(number)), b.asked()]);
    await killCoordinator("after-acks");
    await b.answer(ping);
    expect(await b.lead()).toBeGreaterThan(0n);
  }, 120_000);

  it("[91] while the elect command is under way: the election completes", async () => {
    const a = new StandIn(deployment, "during-elect", "a");
    await a.register();
    const ping = await a.asked();
    const killed = killCoordinator("during-elect");
    await a.answer(ping);
    await killed;
    expect(await a.lead()).toBeGreaterThan(0n);
  }, 120_000);

  it("[91] after the elect command: the candidate accepts, and the next coordinator leaves it alone", async () => {
    const a = new StandIn(deployment, "after-elect", "a");
    await a.register();
    const token = await a.chosen();
    const [killed, isAccepted] = await Promise.all([killCoordinator("after-elect"), a.accept(token)]);
    const hasNext = async () => (await coordinatorOf("after-elect")) !== killed;
    await waitFor(hasNext, { timeoutMs: 60_000, describe: "another coordinator" });
    const led = isAccepted ? token : await a.lead();
    expect((await leaseOf(deployment, "after-elect"))?.lastToken).toBe(led);
  }, 120_000);
});
