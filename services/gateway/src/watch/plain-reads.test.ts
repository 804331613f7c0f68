import {
  LeaseServiceGetRequest,
  LeaseServiceListRequest,
  LeaseServiceListResponse,
  LeaseServiceWatchRequest,
  LeaseServiceWatchResponse,
  ReadConsistency,
  WatchMarkKind,
} from "@tenure/contracts";
import { FakeClock, seededRandom } from "@tenure/kernel";
import { MemoryLog, MemorySnapshots } from "@tenure/log/memory";
import { LogReader, logDecoder, Watches } from "@tenure/reader";
import { describe, expect, it } from "vitest";
import { plainReads } from "./plain-reads.ts";
import { watchMethods } from "./watch-methods.ts";

const scope = { signal: new AbortController().signal };

/** A reader of a log that is empty. */
async function emptyReader(): Promise<LogReader> {
  const clock = new FakeClock();
  const transport = new MemoryLog({ clock }).connect("reader");
  const ports = { clock, random: seededRandom(1), transport, snapshots: new MemorySnapshots(), codec: logDecoder };
  const reader = new LogReader(ports, { incarnationId: "one", partitions: 2, keptChanges: 10 });
  const started = reader.start();
  await clock.advance(1);
  await started;
  await clock.advance(1);
  return reader;
}

describe("plain reads", () => {
  it("are answered here, in bytes", async () => {
    await using reader = await emptyReader();
    const request = LeaseServiceListRequest.encode(LeaseServiceListRequest.create()).finish();
    const bytes = await plainReads.get("LeaseService.List")?.(reader, request, scope);
    const { leases, page } = LeaseServiceListResponse.decode(bytes ?? new Uint8Array(0));
    expect([leases, page?.nextToken, page?.resumeToken.length]).toEqual([[], "", 14]);
    const lease = { namespace: "shop", name: "a" };
    const get = LeaseServiceGetRequest.encode(LeaseServiceGetRequest.fromPartial({ lease })).finish();
    await expect(plainReads.get("LeaseService.Get")?.(reader, get, scope)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("leave to the owner what only it can say, and to others what is not theirs", async () => {
    await using reader = await emptyReader();
    const read = { consistency: ReadConsistency.LINEARIZABLE };
    const request = LeaseServiceListRequest.encode(LeaseServiceListRequest.fromPartial({ read })).finish();
    expect(plainReads.get("LeaseService.List")?.(reader, request, scope)).toBeUndefined();
    expect(plainReads.has("LeaseService.Acquire")).toBe(false);
    expect(watchMethods.has("IdentityService.Watch")).toBe(false);
  });

  it("refuse bytes that are no request", async () => {
    await using reader = await emptyReader();
    const broken = new Uint8Array([0x0a, 0x7f]);
    expect(() => plainReads.get("LeaseService.Get")?.(reader, broken, scope)).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", reason: "MALFORMED_MESSAGE" }),
    );
  });
});

describe("watches", () => {
  it("are served by their method, in bytes", async () => {
    await using reader = await emptyReader();
    const watches = new Watches(reader, { watchers: 1, queuedPerWatcher: 10 });
    const request = LeaseServiceWatchRequest.encode(LeaseServiceWatchRequest.fromPartial({ selectors: [{}] })).finish();
    const responses = watchMethods.get("LeaseService.Watch")?.(watches, request, scope.signal) ?? [];
    for await (const bytes of responses) {
      expect(LeaseServiceWatchResponse.decode(bytes).position?.mark?.kind).toBe(WatchMarkKind.SYNCED);
      break;
    }
    expect(watches.open).toBe(0);
  });
});
