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
  const say = (news: Parameters<typeof CandidateLiveness.fromPartial>[0]) =>
    hear(CandidateLiveness.encode(CandidateLiveness.fromPartial(news)).finish());
  const tell = (instance: string, sequence: bigint, live: string[], closed: string[] = []) =>
    say({ instance, sequence, live: live.map(key), closed: closed.map(key) });
  return { clock, changed, say, streams, tell };
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

  it("lets every candidate of a stream beat with it, and tells of all when a silent stream beats again", async () => {
    const { changed, clock, say, streams } = setUp();
    const other = { lease: { namespace: "n", name: "m" }, name: "a" };
    say({ instance: "g1", sequence: 1n, stream: 7n, live: [key("a")] });
    say({ instance: "g1", sequence: 2n, stream: 7n, live: [other] });
    await clock.advance(1_000);
    say({ instance: "g1", sequence: 3n, beating: [7n, 8n] });
    say({ instance: "g2", sequence: 1n, beating: [7n] });
    expect([streams.beatsOf("n/l").get("a"), streams.beatsOf("n/m").get("a")]).toEqual([clock.now(), clock.now()]);
    expect(changed).toEqual(["n/l", "n/m"]);
    await clock.advance(2_001);
    say({ instance: "g1", sequence: 4n, beating: [7n] });
    expect(changed).toEqual(["n/l", "n/m", "n/l", "n/m"]);
    say({ instance: "g1", sequence: 5n, closed: [other] });
    expect([streams.beatsOf("n/l").size, streams.beatsOf("n/m").size]).toEqual([1, 0]);
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
    const { clock, say, streams, tell } = setUp();
    tell("g1", 1n, ["a"]);
    await clock.advance(20_000);
    expect(streams.beatsOf("n/l").size).toBe(0);
    say({ instance: "g1", sequence: 2n, stream: 7n, live: [key("a"), key("b")] });
    for (let sequence = 3n; sequence < 53n; sequence += 1n) {
      await clock.advance(1_000);
      const live = sequence % 10n === 0n ? [key("b")] : [];
      say({ instance: "g1", sequence, beating: [7n], stream: 7n, live });
    }
    expect([...streams.beatsOf("n/l").keys()], "one that is not named any more has withdrawn").toEqual(["b"]);
    streams[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });
});
