import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { summarize } from "./collect.ts";
import { parseServerReply, type ServerReply } from "./server-reply.ts";

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe("parseServerReply", () => {
  it("reads a member of a cluster", () => {
    const reply = bytes({
      server: { name: "s1", id: "N1", ver: "2.15.1", jetstream: true },
      data: {
        version: "2.15.1",
        now: "1970-01-01T00:00:02.500Z",
        remotes: 2,
        jetstream: {
          config: { store_dir: "/data/jetstream", sync_interval: 120_000_000_000, sync_always: true },
          meta: { cluster_size: 3, replicas: [{ name: "s2" }, { name: "s3", offline: true }] },
        },
      },
    });
    expect(parseServerReply(reply, 1_000)).toEqual({
      facts: {
        name: "s1",
        version: "2.15.1",
        jetStream: { storeDirectory: "/data/jetstream", syncAlways: true, syncIntervalMs: 120_000 },
        clockAheadMs: 1_500,
      },
      remotes: 2,
      peers: ["s2", "s3"],
    });
  });

  it("reads a server without JetStream, and an old one that says little", () => {
    const off = bytes({ server: { name: "f" }, data: { version: "2.15.1", jetstream: {} } });
    expect(parseServerReply(off, 0)).toEqual({ facts: { name: "f", version: "2.15.1" }, remotes: 0, peers: [] });
    const old = bytes({ server: { name: "o", ver: "2.9.10" }, data: { jetstream: { config: { store_dir: "/d" } } } });
    expect(parseServerReply(old, 0)?.facts).toEqual({
      name: "o",
      version: "2.9.10",
      jetStream: { storeDirectory: "/d", syncAlways: false },
    });
  });

  it("reads nothing into what is no answer", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json().map((text) => new TextEncoder().encode(text)),
          fc.uint8Array(),
        ),
        (body) => {
          expect(() => parseServerReply(body, 0)).not.toThrow();
        },
      ),
    );
    expect(parseServerReply(bytes({ server: { name: "x" } }), 0)).toBeUndefined();
    expect(parseServerReply(bytes({ error: { code: 400 } }), 0)).toBeUndefined();
  });
});

describe("summarize", () => {
  const reply = (name: string, remotes: number, peers: readonly string[]): ServerReply => ({
    facts: { name, version: "2.15.1", jetStream: { storeDirectory: "", syncAlways: true } },
    remotes,
    peers,
  });

  it("is undefined without answers", () => {
    expect(summarize([])).toBeUndefined();
  });

  it("counts a peer that nobody is connected to as down", () => {
    const replies = [reply("b", 1, ["a", "c"]), reply("a", 1, ["b", "c"])];
    expect(summarize(replies)).toMatchObject({ clusterSize: 3, silent: [{ name: "c", isOffline: true }] });
  });

  it("counts a peer that somebody is connected to as up and silent", () => {
    const replies = [reply("b", 2, ["a", "c"]), reply("a", 2, ["b", "c"])];
    expect(summarize(replies)).toMatchObject({ clusterSize: 3, silent: [{ name: "c", isOffline: false }] });
  });
});
