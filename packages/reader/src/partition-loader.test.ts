import type { PartitionState } from "@tenure/core";
import { seededRandom } from "@tenure/kernel";
import type { LoggedMessage } from "@tenure/log";
import { describe, expect, it } from "vitest";
import { logDecoder } from "./log-decoder.ts";
import { PartitionFollower } from "./partition-follower.ts";
import { PartitionLoader } from "./partition-loader.ts";
import { LogWorld } from "./testing/log-world.ts";

function portsOf(world: LogWorld) {
  const { clock, snapshots } = world;
  return { clock, random: seededRandom(1), transport: world.log.connect("reader"), snapshots, codec: logDecoder };
}

/** What the log ends with is answered when a test says so. */
function gatedEnds(world: LogWorld) {
  const answers: ((end: LoggedMessage | undefined) => void)[] = [];
  const readLast = () => new Promise<LoggedMessage | undefined>((resolve) => answers.push(resolve));
  return { answers, ports: { ...portsOf(world), transport: { readLast } } };
}

describe("loading a partition", () => {
  it("gives nothing of a load that ends after another has begun", async () => {
    const world = new LogWorld(1);
    const { answers, ports } = gatedEnds(world);
    const faults: unknown[] = [];
    await using loader = new PartitionLoader(0, ports, "incarnation-1", (...fault) => faults.push(fault));
    const loaded: bigint[] = [];
    const listener = {
      onLoaded: ({ lastSequence }: PartitionState) => loaded.push(lastSequence),
      onBroken: (why: string) => faults.push(why),
    };
    const { state } = world.ownerOf(0);
    world.create("shop/a");
    await world.compact(0);
    const older = world.log.messages(0).at(-1);
    loader.reload(state, listener);
    world.create("shop/b");
    await world.compact(0);
    loader.reload(state, listener);
    answers[1]?.(world.log.messages(0).at(-1));
    await world.settle();
    expect([loaded, loader.isLoaded]).toEqual([[state.snapshot?.sequence], true]);
    answers[0]?.(older);
    await world.settle();
    expect([loaded.length, answers.length, faults]).toEqual([1, 2, []]);
  });

  it("has not caught up while the tail ends before what had been read, and has when that is passed", async () => {
    const world = new LogWorld(1);
    for (const name of ["a", "b", "c"]) world.create(`shop/${name}`);
    const roles: string[] = [];
    const resumed: bigint[] = [];
    const listener = {
      onRole: (_: number, role: string) => roles.push(role),
      onApplied: () => {},
      onOwner: () => {},
      onFault: () => {},
    };
    const resume = (_: number, sequence: bigint) => resumed.push(sequence);
    await using follower = new PartitionFollower(
      0,
      portsOf(world),
      { incarnationId: "incarnation-1" },
      listener,
      resume,
    );
    const loading = follower.load();
    await world.settle();
    await loading;
    const messages = world.log.messages(0);
    for (const { payload, sequence } of messages) follower.onMessage(sequence, payload);
    follower.onCaughtUp();
    expect(roles).toEqual(["following"]);
    follower.reload("the consumer was lost");
    follower.onCaughtUp();
    await world.settle();
    expect([roles, resumed]).toEqual([["following", "loading"], [0n]]);
    for (const { payload, sequence } of messages.slice(0, -1)) follower.onMessage(sequence, payload);
    follower.onCaughtUp();
    expect(follower.role).toBe("loading");
    expect(() => follower.view(() => "shown")).toThrow("is being loaded");
    for (const { payload, sequence } of messages.slice(-1)) follower.onMessage(sequence, payload);
    expect([follower.role, follower.view(({ leases }) => leases.size)]).toEqual(["following", 3]);
  });
});
