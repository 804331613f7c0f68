import { LeaseServiceWatchRequest } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { leaseReads, readPlain } from "./point-reads.ts";
import { LogWorld } from "./testing/log-world.ts";
import { watchLeases } from "./testing/watcher.ts";
import { Watches } from "./watches.ts";

const all = { selectors: [{}] };
const { signal } = new AbortController();

function get(reader: Parameters<typeof readPlain>[0], name: string, minRevision = 0n) {
  const request = { lease: { namespace: "shop", name }, read: { consistency: 1 as const, minRevision } };
  return readPlain(reader, leaseReads.get, request, signal);
}

describe("a reader of the log", () => {
  it("loads the newest snapshots, follows the log, and is ready when it has caught up", async () => {
    const world = new LogWorld();
    world.create("shop/a");
    world.create("shop/b");
    for (const partition of [0, 1]) await world.compact(partition);
    const readiness: boolean[] = [];
    const listener = { onReadiness: (isReady: boolean) => readiness.push(isReady) };
    await using reader = (await world.read({ listener })).reader;
    expect([reader.isReady, readiness]).toEqual([true, [false, true]]);
    expect(reader.revision).toBe(world.log.lastSequence);
    const watcher = watchLeases(reader, all);
    await world.settle();
    world.create("shop/c");
    await world.settle();
    expect(watcher.seen.toSorted()).toEqual(["SYNCED", "added shop/c", "present shop/a", "present shop/b"].toSorted());
  });

  it("keeps one copy of a record for each change that it keeps, and none of one whose changes are gone", async () => {
    const world = new LogWorld();
    await using reader = (await world.read({ keptChanges: 3 })).reader;
    const names = ["a", "b", "c", "d", "e"].map((name) => `shop/${name}`);
    for (const name of names) world.create(name);
    await world.settle();
    const records = [0, 1].flatMap((partition) => [...reader.stateOf(partition).leases.values()]);
    const isShown = (name: string) => records.find(({ key }) => key === name)?.shown !== undefined;
    expect(names.filter(isShown)).toEqual(names.slice(-3));
  });

  it("tells who owns each partition, at first and whenever it changes", async () => {
    const world = new LogWorld();
    const owners: string[] = [];
    const onOwner = (partition: number, epoch: bigint, owner: string) => owners.push(`${partition} ${epoch} ${owner}`);
    await using _ = (await world.read({ listener: { onOwner } })).reader;
    expect(owners.toSorted()).toEqual(["0 1 store-1", "1 1 store-1"]);
    world.run(1, [{ kind: "takeOver", epoch: 2n, owner: "store-2", isHandedOver: false }]);
    await world.settle();
    expect(owners.at(-1)).toBe("1 2 store-2");
  });

  it("loads anew when what it should read next was purged, and has watches start over", async () => {
    const world = new LogWorld();
    world.create("shop/a");
    const { reader, transport } = await world.read();
    await using _ = reader;
    const watcher = watchLeases(reader, all);
    await world.settle();
    transport.cut();
    const missed = ["b", "c", "d", "e", "f", "g", "h", "i"];
    for (const name of missed) world.create(`shop/${name}`);
    for (const partition of [0, 1]) await world.compact(partition);
    world.create("shop/j");
    transport.heal();
    await world.clock.advance(10);
    world.create("shop/k");
    await world.settle();
    expect(watcher.seen.slice(0, 3)).toEqual(["present shop/a", "SYNCED", "RESYNC"]);
    const after = watcher.seen.slice(watcher.seen.lastIndexOf("RESYNC") + 1);
    const present = ["a", ...missed, "j"].map((name) => `present shop/${name}`);
    expect(after.slice(0, 10).toSorted()).toEqual(present);
    expect(after.slice(10)).toEqual(["SYNCED", "added shop/k"]);
    expect(reader.isReady).toBe(true);
  });

  it("says that it is behind, not that the watcher is, when it loads anew while the present is told", async () => {
    const world = new LogWorld();
    const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (const name of names) world.create(`shop/${name}`);
    expect(new Set(names.map((name) => world.partitionOf(`shop/${name}`)))).toEqual(new Set([0, 1]));
    await using reader = (await world.read()).reader;
    const watches = new Watches(reader, { watchers: 10, queuedPerWatcher: 10 });
    const watch = watches.leases(LeaseServiceWatchRequest.fromPartial(all), signal);
    await watch.next();
    reader.onReset(0, "what follows was purged");
    await expect(watch.next()).rejects.toMatchObject({ code: "UNAVAILABLE", reason: "REPLICA_BEHIND" });
  });

  it("goes on without a gap or a repetition after it was cut off from the log", async () => {
    const world = new LogWorld();
    const { reader, transport } = await world.read();
    await using _ = reader;
    const watcher = watchLeases(reader, all);
    await world.settle();
    for (let round = 0; round < 5; round += 1) {
      world.create(`shop/before-${round}`);
      transport.cut();
      world.create(`shop/after-${round}`);
      await world.settle();
      transport.heal();
      await world.settle();
    }
    const names = [0, 1, 2, 3, 4].flatMap((round) => [`added shop/before-${round}`, `added shop/after-${round}`]);
    expect(watcher.seen).toEqual(["SYNCED", ...names]);
  });

  it("shows nothing of a partition whose log does not say what it must, and goes on with the others", async () => {
    const world = new LogWorld();
    world.create("shop/a");
    world.create("shop/b");
    const partition = world.partitionOf("shop/a");
    const other = ["a", "b", "c", "d", "e"].find((name) => world.partitionOf(`shop/${name}`) !== partition) ?? "";
    await using reader = (await world.read()).reader;
    const watcher = watchLeases(reader, all);
    const named = watchLeases(reader, { selectors: [{ namespace: "shop", name: other }] });
    await world.settle();
    const { lastSequence } = world.ownerOf(partition).state;
    world.log.append(partition, new Uint8Array([1, 2, 3]), lastSequence);
    await world.settle();
    expect(watcher.failure).toMatchObject({ code: "UNAVAILABLE", reason: "PARTITION_HALTED" });
    expect([reader.isReady, named.failure]).toEqual([false, undefined]);
    await expect(get(reader, "a")).rejects.toMatchObject({ reason: "PARTITION_HALTED" });
  });

  it("answers a plain read when it has applied what the client has seen", async () => {
    const world = new LogWorld();
    world.create("shop/a");
    const { reader, transport } = await world.read();
    await using _ = reader;
    await expect(get(reader, "b")).rejects.toMatchObject({ code: "NOT_FOUND" });
    transport.cut();
    world.create("shop/b");
    const seen = world.revisionOf("shop/b");
    const reading = get(reader, "b", seen);
    transport.heal();
    await world.settle();
    expect((await reading).revision).toBe(seen);
  });
});
