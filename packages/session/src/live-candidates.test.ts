import { CandidateLiveness } from "@tenure/contracts";
import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { LiveCandidates } from "./live-candidates.ts";

function setUp() {
  const clock = new FakeClock();
  const sent: CandidateLiveness[] = [];
  const bus = {
    connected: true,
    publish: (subject: string, payload: Uint8Array) => {
      expect(subject).toBe("tenure.liveness.gateway-1");
      sent.push(CandidateLiveness.decode(payload));
    },
  };
  const live = new LiveCandidates({ bus, clock, instance: "gateway-1" });
  const sessionOf = (...names: string[]) => {
    const keys = names.map((name) => ({ lease: { namespace: "n", name: "l" }, name }));
    return { heardAtMs: clock.now(), candidates: () => keys };
  };
  const names = () =>
    sent.map(({ beating, closed, live: named }) => [
      ...named.map(({ name }) => name),
      ...closed.map(({ name }) => `-${name}`),
      ...beating.map((stream) => `stream ${stream}`),
    ]);
  const begin = (session: ReturnType<typeof sessionOf>) => live.onCandidates(session, session.candidates());
  return { begin, clock, sent, live, sessionOf, names };
}

describe("LiveCandidates", () => {
  it("names a session's candidates at once, then tells each second that it beats, while its client is heard", async () => {
    const { begin, clock, live, names, sessionOf } = setUp();
    const session = sessionOf("a", "b");
    begin(session);
    await clock.advance(0);
    expect(names()).toEqual([["a", "b"]]);
    await clock.advance(500);
    session.heardAtMs = clock.now();
    await clock.advance(500);
    expect(names()).toEqual([["a", "b"], ["stream 1"]]);
    await clock.advance(3_000);
    expect(names(), "a client that is silent does not beat").toHaveLength(2);
    session.heardAtMs = clock.now();
    await clock.advance(1_000);
    expect(names()).toHaveLength(3);
    live[Symbol.dispose]();
  });

  it("names what is new, and every ten seconds all", async () => {
    const { begin, clock, live, names, sent, sessionOf } = setUp();
    const session = sessionOf("a", "b");
    begin(session);
    live.onCandidates(session, [{ lease: { namespace: "n", name: "l" }, name: "c" }]);
    await clock.advance(0);
    expect(names()).toEqual([["a", "b", "c"]]);
    for (let second = 0; second < 20; second += 1) {
      session.heardAtMs = clock.now();
      await clock.advance(1_000);
    }
    expect(sent.filter(({ live: named }) => named.length > 0)).toHaveLength(3);
    expect(sent.filter(({ beating }) => beating.length > 0)).toHaveLength(20);
    live[Symbol.dispose]();
  });

  it("announces a close at once, with growing numbers, and then is silent", async () => {
    const { begin, clock, live, names, sent, sessionOf } = setUp();
    const session = sessionOf("a");
    begin(session);
    await clock.advance(0);
    live.onClosed(session);
    live.onClosed(session);
    await clock.advance(0);
    expect(names()).toEqual([["a"], ["-a"]]);
    expect(sent.map(({ sequence }) => sequence)).toEqual([1n, 2n]);
    await clock.advance(5_000);
    expect(sent).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it("splits what does not fit into one message", async () => {
    const { begin, clock, live, sent, sessionOf } = setUp();
    begin(sessionOf(...Array.from({ length: 4_500 }, (_, number) => `candidate-${number}`)));
    await clock.advance(0);
    expect(sent.map(({ live: named }) => named.length)).toEqual([2_000, 2_000, 500]);
    expect(sent.map(({ stream }) => stream)).toEqual([1n, 1n, 1n]);
    live[Symbol.dispose]();
  });
});
