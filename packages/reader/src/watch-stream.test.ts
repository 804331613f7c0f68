import { ChangeKind, LeaseServiceWatchRequest, LeaseServiceWatchResponse } from "@tenure/contracts";
import { defaultLeaseSpec } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { LogWorld } from "./testing/log-world.ts";
import { watchCandidates, watchLeases } from "./testing/watcher.ts";
import { Watches } from "./watches.ts";

const all = { selectors: [{}] };

describe("a watch", () => {
  it("shows the present state, SYNCED, then every change once and in order", async () => {
    const world = new LogWorld();
    world.create("shop/a");
    await using reader = (await world.read()).reader;
    const watcher = watchLeases(reader, all);
    await world.settle();
    expect(watcher.seen).toEqual(["present shop/a", "SYNCED"]);
    world.create("shop/b");
    const token = world.acquire("shop/a");
    world.release("shop/a", token);
    world.delete("shop/b");
    await world.settle();
    expect(watcher.seen.slice(2)).toEqual(["added shop/b", "changed shop/a", "changed shop/a", "removed shop/b"]);
    watcher.stop.abort(new Error("enough"));
    await watcher.ended;
    expect(reader.hub.listeners).toBe(0);
  });

  it("resumes where it stood, without loss or repetition", async () => {
    const world = new LogWorld();
    world.create("shop/a");
    await using reader = (await world.read()).reader;
    const first = watchLeases(reader, all);
    await world.settle();
    world.create("shop/b");
    await world.settle();
    first.stop.abort(new Error("cut"));
    world.create("shop/c");
    world.create("shop/d");
    await world.settle();
    const second = watchLeases(reader, { ...all, options: { resumeToken: first.resumeToken } });
    await world.settle();
    world.create("shop/e");
    await world.settle();
    expect(second.seen).toEqual(["SYNCED", "added shop/c", "added shop/d", "added shop/e"]);
  });

  it("tells a record that begins or ceases to match as added or removed, also after a resume", async () => {
    const world = new LogWorld();
    world.create("shop/a", { tier: "gold" });
    world.create("shop/b");
    await using reader = (await world.read()).reader;
    const labels = { requirements: [{ key: "tier", operator: 1 as const, values: ["gold"] }] };
    const selectors = [{ labels }];
    const first = watchLeases(reader, { selectors });
    await world.settle();
    expect(first.seen).toEqual(["present shop/a", "SYNCED"]);
    first.stop.abort(new Error("cut"));
    world.label("shop/b", { tier: "gold" });
    world.label("shop/a", { tier: "iron" });
    world.label("shop/b", { tier: "gold", more: "yes" });
    await world.settle();
    const second = watchLeases(reader, { selectors, options: { resumeToken: first.resumeToken } });
    await world.settle();
    expect(second.seen).toEqual(["SYNCED", "added shop/b", "removed shop/a", "changed shop/b"]);
  });

  it("is told of renewals only if it asks for them", async () => {
    const world = new LogWorld();
    world.acquire("shop/a");
    await using reader = (await world.read()).reader;
    const plain = watchLeases(reader, all);
    const keen = watchLeases(reader, {
      selectors: [{ namespace: "shop", name: "a" }],
      options: { includeRenewals: true },
    });
    await world.settle();
    world.renew("shop/a");
    await world.settle();
    expect(plain.seen).toEqual(["present shop/a", "SYNCED"]);
    expect(keen.seen).toEqual(["present shop/a", "SYNCED", "renewed shop/a"]);
  });

  it("starts over when its token is too old, or ends if it asked for that", async () => {
    const world = new LogWorld();
    await using reader = (await world.read({ keptChanges: 2 })).reader;
    const first = watchLeases(reader, all);
    await world.settle();
    first.stop.abort(new Error("cut"));
    for (const name of ["a", "b", "c", "d"]) world.create(`shop/${name}`);
    await world.settle();
    const options = { resumeToken: first.resumeToken };
    const second = watchLeases(reader, { ...all, options });
    const strict = watchLeases(reader, { ...all, options: { ...options, failOnGap: true } });
    await world.settle();
    expect(second.seen[0]).toBe("RESYNC");
    expect(second.seen.slice(1).sort()).toEqual([
      "SYNCED",
      ...["a", "b", "c", "d"].map((name) => `present shop/${name}`),
    ]);
    expect(strict.failure).toMatchObject({ code: "OUT_OF_RANGE", reason: "RESUME_TOKEN_TOO_OLD" });
  });

  it("is cut off with a reason when it reads too slowly, and goes on from its last token", async () => {
    const world = new LogWorld();
    await using reader = (await world.read()).reader;
    const watches = new Watches(reader, { watchers: 10, queuedPerWatcher: 3 });
    const request = LeaseServiceWatchRequest.fromPartial(all);
    const slow = watches.leases(request, new AbortController().signal);
    const synced = LeaseServiceWatchResponse.decode((await slow.next()).value ?? new Uint8Array(0));
    // The second read begins the wait for changes; nothing is read any more until five have come.
    const waiting = slow.next();
    for (const name of ["a", "b", "c", "d", "e"]) world.create(`shop/${name}`);
    await world.settle();
    const seen: string[] = [];
    let resumeToken = synced.position?.resumeToken ?? new Uint8Array(0);
    const note = (bytes: Uint8Array) => {
      const { events, position } = LeaseServiceWatchResponse.decode(bytes);
      seen.push(...events.map(({ lease }) => lease?.key?.name ?? ""));
      resumeToken = position?.resumeToken ?? resumeToken;
    };
    const failure = await (async () => {
      note((await waiting).value ?? new Uint8Array(0));
      for await (const bytes of slow) note(bytes);
    })().catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(Fault);
    expect(failure).toMatchObject({ code: "RESOURCE_EXHAUSTED", reason: "WATCHER_TOO_SLOW" });
    expect(watches.open).toBe(0);
    const next = watchLeases(reader, { ...all, options: { resumeToken } });
    await world.settle();
    expect([...seen, ...next.seen.filter((text) => text !== "SYNCED").map((text) => text.slice(-1))]).toEqual([
      "a",
      "b",
      "c",
      "d",
      "e",
    ]);
  });

  it("is refused beyond the limit of watchers", async () => {
    const world = new LogWorld();
    await using reader = (await world.read()).reader;
    const watches = new Watches(reader, { watchers: 1, queuedPerWatcher: 10 });
    const { signal } = new AbortController();
    const one = watches.leases(LeaseServiceWatchRequest.fromPartial(all), signal);
    await one.next();
    const refused = watches.leases(LeaseServiceWatchRequest.fromPartial(all), signal).next();
    await expect(refused).rejects.toMatchObject({
      reason: "LIMIT_EXCEEDED",
      details: { limit: { name: "watchers", value: 1n } },
    });
    await one.return();
    expect(watches.open).toBe(0);
  });

  it("says that it is alive when nothing happens, at the pace that it was asked for", async () => {
    const world = new LogWorld();
    await using reader = (await world.read()).reader;
    const options = { heartbeatInterval: { seconds: 2n, nanos: 0 } };
    const watcher = watchLeases(reader, { ...all, options });
    await world.settle();
    await world.clock.advance(4_500);
    expect(watcher.seen).toEqual(["SYNCED", "HEARTBEAT", "HEARTBEAT"]);
    expect(watcher.revision).toBe(reader.revision);
    const refused = watchLeases(reader, { ...all, options: { heartbeatInterval: { seconds: 0n, nanos: 5 } } });
    await world.settle();
    expect(refused.failure).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("goes on after a part of a batch that was too large for one response", async () => {
    const world = new LogWorld(1);
    await using reader = (await world.read({ keptChanges: 5_000 })).reader;
    const watches = new Watches(reader, { watchers: 10, queuedPerWatcher: 10 });
    const reading = watches.leases(LeaseServiceWatchRequest.fromPartial(all), new AbortController().signal);
    await reading.next();
    const names = Array.from({ length: 1_200 }, (_, number) => `shop/${String(number).padStart(4, "0")}`);
    const next = reading.next();
    world.run(
      0,
      names.map((lease) => ({ kind: "create", lease, spec: defaultLeaseSpec })),
    );
    await world.settle();
    const first = LeaseServiceWatchResponse.decode((await next).value ?? new Uint8Array(0));
    expect(first.events.length).toBeLessThan(names.length);
    expect(first.position?.revision).toBeLessThan(reader.revision);
    await reading.return();
    const resumed = watchLeases(reader, {
      ...all,
      options: { resumeToken: first.position?.resumeToken ?? new Uint8Array(0) },
    });
    await world.settle();
    const seen = [...first.events.map(({ lease }) => `added shop/${lease?.key?.name}`), ...resumed.seen.slice(1)];
    expect(seen).toEqual(names.map((name) => `added ${name}`));
  });

  it("is sent the same bytes as every other watcher who is shown the same", async () => {
    const world = new LogWorld();
    world.create("shop/a");
    await using reader = (await world.read()).reader;
    const watches = new Watches(reader, { watchers: 10, queuedPerWatcher: 10 });
    const named = LeaseServiceWatchRequest.fromPartial({ selectors: [{ namespace: "shop", name: "a" }] });
    const everything = LeaseServiceWatchRequest.fromPartial(all);
    const { signal } = new AbortController();
    const readings = [named, named, everything].map((request) => watches.leases(request, signal));
    for (const reading of readings) await reading.next().then(() => reading.next());
    const next = readings.map((reading) => reading.next());
    world.acquire("shop/a");
    await world.settle();
    const [one, two, three] = await Promise.all(next);
    expect([one?.value === two?.value, one?.value === three?.value]).toEqual([true, true]);
    const { events } = LeaseServiceWatchResponse.decode(one?.value ?? new Uint8Array(0));
    expect(events.map(({ kind, transitions }) => [kind, transitions.length])).toEqual([[ChangeKind.CHANGED, 1]]);
    for (const reading of readings) await reading.return();
  });
});

describe("a watch of candidates", () => {
  it("shows the present, each change, and the last record of one that is gone", async () => {
    const world = new LogWorld();
    world.create("shop/a");
    world.register("shop/a", "one");
    await using reader = (await world.read()).reader;
    const watcher = watchCandidates(reader, all);
    const picky = watchCandidates(reader, { selectors: [{ lease: { namespace: "shop", name: "a" }, name: "two" }] });
    await world.settle();
    world.register("shop/a", "two", { binaryVersion: "1.21.0" });
    world.run(world.partitionOf("shop/a"), [
      { kind: "pingCandidates", lease: "shop/a", candidates: ["one", "two"], coordinator: "c" },
    ]);
    world.run(world.partitionOf("shop/a"), [
      { kind: "withdrawCandidate", lease: "shop/a", candidate: "two", expectedRevision: undefined },
    ]);
    await world.settle();
    expect(watcher.seen).toEqual([
      "present one 1.20.0",
      "SYNCED",
      "added two 1.21.0",
      "changed one 1.20.0",
      "changed two 1.21.0",
      "removed two 1.21.0",
    ]);
    expect(picky.seen).toEqual(["SYNCED", "added two 1.21.0", "changed two 1.21.0", "removed two 1.21.0"]);
    const wrong = watchLeases(reader, { ...all, options: { resumeToken: watcher.resumeToken } });
    await world.settle();
    expect(wrong.failure).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("is told when a change of the lease's labels makes a candidate match, or not any more", async () => {
    const world = new LogWorld();
    world.create("shop/a");
    world.register("shop/a", "one");
    await using reader = (await world.read()).reader;
    const labels = { requirements: [{ key: "tier", operator: 1 as const, values: ["gold"] }] };
    const picky = watchCandidates(reader, { selectors: [{ lease: { namespace: "shop", labels } }] });
    const plain = watchCandidates(reader, all);
    await world.settle();
    for (const tier of ["gold", "iron"]) world.label("shop/a", { tier });
    await world.settle();
    expect(picky.seen).toEqual(["SYNCED", "added one 1.20.0", "removed one 1.20.0"]);
    expect(plain.seen).toEqual(["present one 1.20.0", "SYNCED"]);
  });
});
