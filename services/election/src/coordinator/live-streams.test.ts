import { CandidateLiveness } from "@tenure/contracts";
import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { LiveStreams } from "./live-streams.ts";

const key = (name: string) => ({ lease: { namespace: "n", name: "l" }, name });

function setUp() {
  const clock = new FakeClock();
  let hear: (payload: Uint8Array) => void = () => {};
  const changed: string[] = [];
  const bus = {
    subscribe: (_: string, listener: (payload: Uint8Array, subject: string) => void) => {
      hear = (payload) => listener(payload, "tenure.liveness.g");
      return () => {};
    },
  };
  const streams = new LiveStreams({ bus, clock, liveBoundMs: 2_000, onChange: (lease) => changed.push(lease) });
  const tell = (instance: string, sequence: bigint, live: string[], closed: string[] = []) =>
    hear(CandidateLiveness.encode({ instance, sequence, live: live.map(key), closed: closed.map(key) }).finish());
  return { clock, changed, streams, tell };
}

describe("LiveStreams (rule 19)", () => {
  it("knows when each candidate's last beat was heard, and tells when one begins", async () => {
    const { changed, clock, streams, tell } = setUp();
    tell("g1", 1n, ["a", "b"]);
    expect(changed).toEqual(["n/l", "n/l"]);
    await clock.advance(1_000);
    tell("g1", 2n, ["a"]);
    expect(changed, "one that goes on is no news").toHaveLength(2);
    const beats = streams.beatsOf("n/l");
    expect((beats.get("a") ?? 0) - (beats.get("b") ?? 0)).toBe(1_000);
    streams[Symbol.dispose]();
  });

  it("forgets a candidate at its close, unless another gateway has heard it since", () => {
    const { changed, streams, tell } = setUp();
    tell("g1", 1n, ["a", "b"]);
    tell("g2", 1n, ["a"]);
    tell("g1", 2n, [], ["a", "b"]);
    expect([...streams.beatsOf("n/l").keys()]).toEqual(["a"]);
    expect(changed).toHaveLength(3);
    streams[Symbol.dispose]();
  });

  it("drops announcements that come late or twice", () => {
    const { streams, tell } = setUp();
    tell("g1", 2n, [], ["a"]);
    tell("g1", 1n, ["a"]);
    expect(streams.beatsOf("n/l").size).toBe(0);
    streams[Symbol.dispose]();
  });

  it("keeps nothing of those that are long over", async () => {
    const { clock, streams, tell } = setUp();
    tell("g1", 1n, ["a"]);
    await clock.advance(20_000);
    expect(streams.beatsOf("n/l").size).toBe(0);
    streams[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });
});
