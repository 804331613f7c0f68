import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { OwnerBeats } from "./owner-beats.ts";

/** A bus in one process. */
class Wire {
  readonly sent: { subject: string; payload: Uint8Array }[] = [];
  readonly #listeners = new Set<(payload: Uint8Array, subject: string) => void>();
  connected = true;

  publish(subject: string, payload: Uint8Array): void {
    this.sent.push({ subject, payload });
    for (const listener of this.#listeners) listener(payload, subject);
  }

  subscribe(_: string, listener: (payload: Uint8Array, subject: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

function setUp() {
  const clock = new FakeClock({ startMs: 5_000 });
  const wire = new Wire();
  const beatsOf = (instance: string, incarnationId = "life-1") =>
    new OwnerBeats({ bus: wire, clock, instance, incarnationId });
  return { clock, wire, beatsOf };
}

const beat = (epoch: bigint) => ({ owned: new Map([[3, epoch]]), uptimeMs: 1234.5, isLeaving: false });

describe("OwnerBeats", () => {
  it("are heard by the other replicas, with what they say and when", async () => {
    const { beatsOf, clock, wire } = setUp();
    const [a, b] = [beatsOf("a"), beatsOf("b")];
    a.send(beat(7n));
    expect(wire.sent.map(({ subject }) => subject)).toEqual(["tenure.owner.a"]);
    expect(a.replicas).toEqual([]);
    expect(b.replicas).toMatchObject([
      { instance: "a", heardAtMs: 5_000, owned: new Map([[3, 7n]]), uptimeMs: 1234, isLeaving: false },
    ]);
    await clock.advance(500);
    a.send({ ...beat(8n), isLeaving: true });
    expect(b.replicas).toMatchObject([{ heardAtMs: 5_500, owned: new Map([[3, 8n]]), isLeaving: true }]);
  });

  it("of another incarnation are ignored, and so is one that comes late", () => {
    const { beatsOf, wire } = setUp();
    const [a, b, stranger] = [beatsOf("a"), beatsOf("b"), beatsOf("c", "life-2")];
    stranger.send(beat(1n));
    a.send(beat(7n));
    a.send(beat(8n));
    const [, late] = wire.sent;
    wire.publish("tenure.owner.a", late?.payload ?? new Uint8Array());
    expect(b.replicas).toMatchObject([{ instance: "a", owned: new Map([[3, 8n]]) }]);
  });

  it("are not sent without a connection, and are forgotten after a minute", async () => {
    const { beatsOf, clock, wire } = setUp();
    const [a, b] = [beatsOf("a"), beatsOf("b")];
    a.send(beat(7n));
    wire.connected = false;
    a.send(beat(8n));
    expect(wire.sent).toHaveLength(1);
    await clock.advance(60_000);
    expect(b.replicas).toHaveLength(1);
    await clock.advance(1);
    expect(b.replicas).toEqual([]);
  });

  it("are heard no more after the end", () => {
    const { beatsOf } = setUp();
    const [a, b] = [beatsOf("a"), beatsOf("b")];
    b[Symbol.dispose]();
    a.send(beat(7n));
    expect(b.replicas).toEqual([]);
  });
});
