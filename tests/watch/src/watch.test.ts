import {
  CandidateServiceRegisterRequest,
  CandidateServiceWatchRequest,
  CandidateServiceWithdrawRequest,
  ChangeKind,
  LeaseServiceListRequest,
  LeaseServiceWatchRequest,
  LeaseServiceWatchResponse,
  WatchMarkKind,
} from "@tenure/contracts";
import { systemClock } from "@tenure/kernel";
import { Watches } from "@tenure/reader";
import { waitFor } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { startWatched, type WatchedDeployment } from "./deployment.ts";
import { Follower, type Open } from "./follower.ts";
import { acquire, attempt, create, Writer } from "./writer.ts";

const limits = { watchers: 100, queuedPerWatcher: 10_000 };

/** A watch served from the reader in this process. */
function fromReader({ reader }: WatchedDeployment): Open {
  const watches = new Watches(reader, limits);
  return async function* open(request, signal) {
    for await (const bytes of watches.leases(request, signal)) yield LeaseServiceWatchResponse.decode(bytes);
  };
}

/** A watch served by whichever lease-store replica takes it. */
function fromStore({ leases }: WatchedDeployment): Open {
  return (request, signal) => leases.watch(request, { signal });
}

/** Every acknowledged name was told exactly once, in the order of the log, and nobody had to start over. */
async function expectNothingLost(follower: Follower, writer: Writer): Promise<void> {
  await waitFor(() => follower.names.length >= writer.acknowledged.length, {
    describe: "the watcher to be told everything",
    timeoutMs: 30_000,
  });
  await follower.stop();
  expect(follower.names.toSorted()).toEqual(writer.acknowledged.toSorted());
  expect(follower.resyncs).toBe(0);
  const isOrdered = follower.revisions.every((revision, index) => revision >= (follower.revisions[index - 1] ?? 0n));
  expect(isOrdered).toBe(true);
}

async function writes(writer: Writer, count: number): Promise<void> {
  const wanted = writer.acknowledged.length + count;
  await waitFor(() => writer.acknowledged.length >= wanted, { describe: `${count} writes`, timeoutMs: 60_000 });
}

describe("watches of a deployment", () => {
  it("go on without gap or repetition when the owner of partitions is killed", async () => {
    await using deployment = await startWatched(3);
    const inside = new Follower(fromReader(deployment), "failover");
    const outside = new Follower(fromStore(deployment), "failover");
    await waitFor(() => inside.syncs > 0 && outside.syncs > 0, { describe: "the watches to begin" });
    const writer = new Writer(deployment, "failover");
    await writes(writer, 200);
    const victim = deployment.ownerOf(0);
    await deployment.process(victim).kill9();
    await waitFor(() => deployment.ownerOf(0) !== victim, { describe: "another owner", timeoutMs: 30_000 });
    await writes(writer, 200);
    await writer.stop();
    await expectNothingLost(inside, writer);
    await expectNothingLost(outside, writer);
    expect(inside.faults).toEqual([]);
  });

  it("go on without gap or repetition when NATS is killed and restarted", async () => {
    await using deployment = await startWatched(2);
    const inside = new Follower(fromReader(deployment), "restart");
    const outside = new Follower(fromStore(deployment), "restart");
    await waitFor(() => inside.syncs > 0 && outside.syncs > 0, { describe: "the watches to begin" });
    const writer = new Writer(deployment, "restart");
    await writes(writer, 100);
    await deployment.nats.kill9();
    await deployment.nats.restart();
    await writes(writer, 100);
    await writer.stop();
    await expectNothingLost(inside, writer);
    await expectNothingLost(outside, writer);
    expect(inside.faults).toEqual([]);
  });

  it("show from a list's position exactly what came after it, whatever page and replica it came from", async () => {
    await using deployment = await startWatched(3);
    const writer = new Writer(deployment, "pages");
    await writes(writer, 100);
    const listed: string[] = [];
    const revisions = new Set<bigint>();
    let resumeToken = new Uint8Array(0);
    for (let token = "", pages = 0; pages === 0 || token !== ""; pages += 1) {
      const page = { size: 10, token };
      const request = LeaseServiceListRequest.fromPartial({ selector: { namespace: "pages" }, page });
      const response = await deployment.leases.list(request);
      listed.push(...response.leases.map(({ key }) => key?.name ?? ""));
      revisions.add(response.page?.revision ?? 0n);
      resumeToken = new Uint8Array(response.page?.resumeToken ?? []);
      token = response.page?.nextToken ?? "";
    }
    await writes(writer, 100);
    await writer.stop();
    expect(revisions.size).toBe(1);
    expect(listed.length).toBeGreaterThanOrEqual(100);
    const open: Open = (request, signal) => {
      const isFirst = request.options?.resumeToken.length === 0;
      const options = isFirst ? { ...request.options, resumeToken } : request.options;
      return fromStore(deployment)({ ...request, options } as typeof request, signal);
    };
    const follower = new Follower(open, "pages");
    const rest = writer.acknowledged.length - listed.length;
    await waitFor(() => follower.names.length >= rest, { describe: "the rest to be told", timeoutMs: 30_000 });
    await follower.stop();
    expect(new Set(listed).size).toBe(listed.length);
    expect([...listed, ...follower.names].toSorted()).toEqual(writer.acknowledged.toSorted());
  });

  it("start over when their token is older than what is kept, and say so", async () => {
    await using deployment = await startWatched(1, ["--kept-changes=5"]);
    await create(deployment, "old", "first");
    const follower = new Follower(fromStore(deployment), "old");
    await waitFor(() => follower.names.length === 1, { describe: "the first to be told" });
    const list = await deployment.leases.list(LeaseServiceListRequest.fromPartial({ page: { size: 1 } }));
    for (let count = 0; count < 20; count += 1) await create(deployment, "old", `later-${count}`);
    const resumeToken = list.page?.resumeToken ?? new Uint8Array(0);
    const late: Open = (request, signal) =>
      fromStore(deployment)({ ...request, options: { ...request.options, resumeToken } } as typeof request, signal);
    const second = new Follower(late, "old");
    await waitFor(() => second.names.length >= 21, { describe: "everything to be told again" });
    await follower.stop();
    await second.stop();
    expect([second.resyncs, new Set(second.names).size]).toEqual([1, 21]);
    expect(follower.resyncs).toBe(0);
  });

  it("of candidates show each change, and the last record of one that is gone", async () => {
    await using deployment = await startWatched(2);
    const lease = { namespace: "candidates", name: "a" };
    const candidate = { lease, name: "one" };
    const stop = new AbortController();
    const seen: string[] = [];
    const selectors = [{ lease: { namespace: "candidates" } }];
    const watching = (async () => {
      const request = CandidateServiceWatchRequest.fromPartial({ selectors });
      for await (const { events } of deployment.candidates.watch(request, { signal: stop.signal })) {
        for (const { candidate: shown, kind } of events) seen.push(`${kind} ${shown?.spec?.binaryVersion}`);
      }
    })().catch(() => undefined);
    const strategy = { kind: 1 as const };
    const spec = { binaryVersion: "1.2.3", compatibilityVersion: "1.2.3", strategy };
    const register = { attempt: attempt(), candidate, spec };
    await deployment.candidates.register(CandidateServiceRegisterRequest.fromPartial(register));
    await waitFor(() => seen.length === 1, { describe: "the candidate to be told" });
    const withdraw = CandidateServiceWithdrawRequest.fromPartial({ attempt: attempt(), candidate });
    await deployment.candidates.withdraw(withdraw);
    await waitFor(() => seen.length === 2, { describe: "its end to be told" });
    stop.abort(new Error("enough"));
    await watching;
    expect(seen[0]).toMatch(new RegExp(`^(${ChangeKind.ADDED}|${ChangeKind.PRESENT}) 1\\.2\\.3$`));
    expect(seen[1]).toBe(`${ChangeKind.REMOVED} 1.2.3`);
  });

  it("of one lease tell ten thousand watchers of a change", async () => {
    await using deployment = await startWatched(1);
    await create(deployment, "crowd", "stage");
    const count = 10_000;
    const watches = new Watches(deployment.reader, { watchers: count, queuedPerWatcher: 10 });
    const request = LeaseServiceWatchRequest.fromPartial({ selectors: [{ namespace: "crowd", name: "stage" }] });
    const stops = Array.from({ length: count }, () => new AbortController());
    let synced = 0;
    let told = 0;
    // What all are told is the same bytes, so they are read once: the watchers' own work is not what is measured.
    const read = new Map<Uint8Array, LeaseServiceWatchResponse>();
    const watchers = stops.map(async ({ signal }) => {
      for await (const bytes of watches.leases(request, signal)) {
        const response = read.get(bytes) ?? LeaseServiceWatchResponse.decode(bytes);
        read.set(bytes, response);
        const { events, position } = response;
        if (position?.mark?.kind === WatchMarkKind.SYNCED) synced += 1;
        told += events.filter(({ kind }) => kind === ChangeKind.CHANGED).length;
      }
    });
    const isOver = Promise.allSettled(watchers);
    await waitFor(() => synced === count, { describe: "every watch to begin", timeoutMs: 60_000 });
    const sinceMs = systemClock.now();
    await acquire(deployment, "crowd", "stage");
    await waitFor(() => told === count, { describe: "every watcher to be told", timeoutMs: 60_000 });
    const tookMs = Math.round(systemClock.now() - sinceMs);
    process.stdout.write(`measured: ${count} watchers were told ${tookMs} ms after the call was sent\n`);
    for (const stop of stops) stop.abort(new Error("enough"));
    await isOver;
    expect([told, watches.open]).toEqual([count, 0]);
  });
});
