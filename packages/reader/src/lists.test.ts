import { CandidateServiceListRequest, LeaseServiceListRequest } from "@tenure/contracts";
import { defaultLeaseSpec } from "@tenure/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listCandidates, listLeases } from "./lists.ts";
import type { LogReader } from "./log-reader.ts";
import { candidateSpec, LogWorld } from "./testing/log-world.ts";
import { watchLeases } from "./testing/watcher.ts";

const scope = { signal: new AbortController().signal };

function page(reader: LogReader, size: number, token = "", selector = {}) {
  return listLeases(reader, LeaseServiceListRequest.fromPartial({ selector, page: { size, token } }), scope);
}

const namesOf = ({ leases }: { leases: readonly { key?: { name: string } | undefined }[] }) =>
  leases.map(({ key }) => key?.name);

describe("a list", () => {
  it("shows on every page the state of the first, whatever happened since", async () => {
    const world = new LogWorld();
    for (const name of ["b", "d", "f", "h"]) world.create(`shop/${name}`, { was: "there" });
    await using reader = (await world.read()).reader;
    const first = await page(reader, 2);
    expect(namesOf(first)).toEqual(["b", "d"]);
    world.create("shop/e");
    world.delete("shop/f");
    world.label("shop/h", { was: "changed" });
    world.acquire("shop/h");
    world.create("shop/f", { was: "made anew" });
    await world.settle();
    const second = await page(reader, 2, first.page?.nextToken);
    expect(namesOf(second)).toEqual(["f", "h"]);
    expect(second.leases.map(({ holds, spec }) => [holds.length, spec?.labels])).toEqual([
      [0, { was: "there" }],
      [0, { was: "there" }],
    ]);
    expect([second.page?.revision, second.page?.nextToken]).toEqual([first.page?.revision, ""]);
    expect(namesOf(await page(reader, 10))).toEqual(["b", "d", "e", "f", "h"]);
  });

  it("[23] is followed by a watch that misses and doubles nothing, from any page", async () => {
    const world = new LogWorld();
    for (const name of ["a", "b", "c"]) world.create(`shop/${name}`);
    await using reader = (await world.read()).reader;
    const first = await page(reader, 2);
    world.create("shop/d");
    world.delete("shop/c");
    await world.settle();
    const second = await page(reader, 2, first.page?.nextToken);
    expect([...namesOf(first), ...namesOf(second)]).toEqual(["a", "b", "c"]);
    const watcher = watchLeases(reader, {
      selectors: [{}],
      options: { resumeToken: second.page?.resumeToken ?? new Uint8Array(0) },
    });
    await world.settle();
    expect(watcher.seen).toEqual(["SYNCED", "added shop/d", "removed shop/c"]);
  });

  it("goes on at another reader, and is refused when its revision is no longer kept", async () => {
    const world = new LogWorld();
    for (const name of ["a", "b", "c"]) world.create(`shop/${name}`);
    await using reader = (await world.read()).reader;
    await using short = (await world.read({ keptChanges: 1 })).reader;
    const first = await page(reader, 1);
    expect(namesOf(await page(short, 1, first.page?.nextToken))).toEqual(["b"]);
    world.create("shop/d");
    world.create("shop/e");
    await world.settle();
    await expect(page(short, 1, first.page?.nextToken)).rejects.toMatchObject({
      code: "OUT_OF_RANGE",
      reason: "PAGE_TOKEN_EXPIRED",
    });
    expect(namesOf(await page(reader, 9, first.page?.nextToken))).toEqual(["b", "c"]);
    await expect(page(reader, 1, first.page?.nextToken, { namespace: "shop" })).rejects.toMatchObject({
      reason: "TOKEN_INVALID",
    });
  });

  it("is shown at one revision also where changes are too many to be kept", async () => {
    const world = new LogWorld();
    await using reader = (await world.read({ keptChanges: 4, leastPastMs: 1_000 })).reader;
    for (const name of ["a", "b", "c", "d", "e", "f"]) world.create(`shop/${name}`);
    await world.settle();
    await world.clock.advance(1_000);
    world.create("shop/g");
    await world.settle();
    expect(reader.hub.floor).toBe(reader.revision);
    const first = await page(reader, 2);
    world.create("shop/bb");
    await world.settle();
    expect(namesOf(await page(reader, 9, first.page?.nextToken))).toEqual(["c", "d", "e", "f", "g"]);
  });

  it("waits for the revision that the client has seen, and says so when it does not come", async () => {
    const world = new LogWorld();
    world.create("shop/a");
    const { reader, transport } = await world.read();
    await using _ = reader;
    transport.cut();
    world.create("shop/b");
    const minRevision = world.revisionOf("shop/b");
    const request = LeaseServiceListRequest.fromPartial({ read: { minRevision } });
    const behind = listLeases(reader, request, scope).catch((thrown: unknown) => thrown);
    await world.settle();
    await world.clock.advance(1_000);
    expect(await behind).toMatchObject({ code: "UNAVAILABLE", reason: "REPLICA_BEHIND" });
    const waiting = listLeases(reader, request, scope);
    transport.heal();
    await world.settle();
    expect(namesOf(await waiting)).toEqual(["a", "b"]);
  });

  it("of candidates shows on every page the state of the first", async () => {
    const world = new LogWorld();
    world.create("shop/a");
    for (const name of ["one", "two", "three"]) world.register("shop/a", name);
    await using reader = (await world.read()).reader;
    const list = (token = "") =>
      listCandidates(reader, CandidateServiceListRequest.fromPartial({ page: { size: 1, token } }), scope);
    const first = await list();
    const lease = "shop/a";
    world.run(world.partitionOf(lease), [
      { kind: "withdrawCandidate", lease, candidate: "two", expectedRevision: undefined },
      {
        kind: "updateCandidate",
        lease,
        candidate: "three",
        expectedRevision: undefined,
        spec: { binaryVersion: "9.0.0" },
      },
      { kind: "registerCandidate", lease, candidate: "zero", spec: candidateSpec() },
    ]);
    await world.settle();
    const second = await list(first.page?.nextToken);
    const third = await list(second.page?.nextToken);
    const seen = [first, second, third].flatMap(({ candidates }) => candidates);
    expect(seen.map(({ key, spec }) => [key?.name, spec?.binaryVersion])).toEqual([
      ["one", "1.20.0"],
      ["three", "1.20.0"],
      ["two", "1.20.0"],
    ]);
    expect(third.page?.nextToken).toBe("");
  });

  it("shows at a revision exactly what a reader that stopped there shows", async () => {
    const step = fc.record({
      name: fc.constantFrom("a", "b", "c", "d", "e"),
      what: fc.constantFrom("create", "delete", "label", "hold", "free", "bury"),
      label: fc.constantFrom("x", "y"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), fc.array(step, { maxLength: 15 }), async (before, after) => {
        const world = new LogWorld();
        for (const one of before) act(world, one);
        await using reader = (await world.read()).reader;
        await using stopped = (await world.read()).reader;
        const whole = await page(stopped, 100);
        const first = await page(reader, 1);
        for (const one of after) act(world, one);
        const shown = [...first.leases];
        for (let token = first.page?.nextToken ?? ""; token !== ""; ) {
          await world.settle();
          const next = await page(reader, 1, token);
          shown.push(...next.leases);
          token = next.page?.nextToken ?? "";
        }
        expect(shown).toEqual(whole.leases);
      }),
      { numRuns: 60 },
    );
  });
});

function act(world: LogWorld, { label, name, what }: { label: string; name: string; what: string }): void {
  const lease = `shop/${name}`;
  const { state } = world.ownerOf(world.partitionOf(lease));
  const record = state.leases.get(lease);
  if (what === "create") world.run(world.partitionOf(lease), [{ kind: "create", lease, spec: defaultLeaseSpec }]);
  else if (what === "hold") world.acquire(lease);
  else if (what === "bury") world.run(world.partitionOf(lease), [{ kind: "removeTombstones", leases: [lease] }]);
  else if (record !== undefined && what === "free") world.release(lease, record.lastToken);
  else if (record !== undefined && what === "label") world.label(lease, { label });
  else if (record !== undefined) world.delete(lease);
}
