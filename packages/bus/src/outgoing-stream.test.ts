import { FakeClock, Fault } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IncomingStream } from "./incoming-stream.ts";
import { OutgoingStream } from "./outgoing-stream.ts";
import { decodeStreamFrame, type StreamFrame } from "./stream-frame.ts";

const beatMs = 100;

/** A stream whose items are numbers of four bytes, and what it sent. */
function openStream({ window = 4, limitBytes = 1_000_000 } = {}) {
  const clock = new FakeClock();
  const frames: StreamFrame[] = [];
  const ends: unknown[] = [];
  const stream = new OutgoingStream(
    { method: "Echo.Count", instance: "s1", window, beatMs, clock, encode: encodeNumber },
    {
      send: (bytes) => {
        const frame = decodeStreamFrame(bytes);
        if (frame !== undefined) frames.push(frame);
        return true;
      },
      limitBytes: () => limitBytes,
      fail: (thrown) => void ends.push(thrown),
      abandon: (fault) => void ends.push(fault),
    },
  );
  return { clock, frames, ends, stream };
}

function encodeNumber(item: unknown): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(Number(item));
  return bytes;
}

const decodeNumber = (bytes: Uint8Array): number => Buffer.from(bytes).readUInt32BE();

async function* upTo(count: number, pulled?: { count: number }): AsyncGenerator<number> {
  for (let index = 0; index < count; index += 1) {
    if (pulled !== undefined) pulled.count = index + 1;
    yield index;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("OutgoingStream", () => {
  test("opens, sends what is ready in one message, and ends", async () => {
    const { stream, frames, ends } = openStream({ window: 10 });
    await stream.run(upTo(3));
    expect(frames.map(({ kind, number }) => [kind, number])).toEqual([
      ["opened", 1],
      ["items", 2],
      ["end", 3],
    ]);
    expect(frames[1]?.kind === "items" && frames[1].items.map(decodeNumber)).toEqual([0, 1, 2]);
    expect(ends).toEqual([]);
  });

  test("pulls the handler only while there is credit", async () => {
    const { stream, clock } = openStream({ window: 4 });
    const pulled = { count: 0 };
    const running = stream.run(upTo(100, pulled));
    await settled();
    expect(pulled.count).toBe(4);
    stream.grant(6);
    await settled();
    expect(pulled.count).toBe(6);
    stream.grant(5);
    await clock.advance(beatMs);
    expect(pulled.count).toBe(6);
    stream.stop();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });

  test("splits what does not fit one message and refuses an item that fits none", async () => {
    const { stream, frames } = openStream({ window: 100, limitBytes: 40 });
    await stream.run(upTo(20));
    const sizes = frames.map((frame) => (frame.kind === "items" ? frame.items.length : 0));
    expect(Math.max(...sizes)).toBeGreaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(20);
    const small = openStream({ limitBytes: 14 });
    await small.stream.run(upTo(1));
    expect(small.ends).toMatchObject([{ code: "RESOURCE_EXHAUSTED", reason: "PAYLOAD_TOO_LARGE" }]);
  });

  test("sends what came before a failure, then hands the failure on", async () => {
    const { stream, frames, ends } = openStream({ window: 10 });
    const failure = new RangeError("handler");
    await stream.run(
      (async function* () {
        yield* upTo(2);
        throw failure;
      })(),
    );
    expect(frames.map(({ kind }) => kind)).toEqual(["opened", "items"]);
    expect(ends).toEqual([failure]);
  });

  test("hands on the failure of an iterable that is none", async () => {
    const { stream, ends } = openStream();
    await stream.run(undefined as unknown as AsyncIterable<unknown>);
    expect(ends).toMatchObject([{ name: "TypeError" }]);
  });

  test("beats while it is idle, and not when it has just sent", async () => {
    const { stream, clock, frames } = openStream({ window: 1 });
    const running = stream.run(upTo(5));
    await settled();
    expect(frames.map(({ kind }) => kind)).toEqual(["opened", "items"]);
    for (let beat = 0; beat < 4; beat += 1) {
      stream.grant(1);
      await clock.advance(beatMs);
    }
    expect(frames.map(({ kind }) => kind)).toEqual(["opened", "items", "beat", "beat", "beat"]);
    expect(frames.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    stream.stop();
    await running;
  });

  test("gives up on a caller that misses three heartbeats, and lets the handler go", async () => {
    const { stream, clock, ends } = openStream({ window: 1 });
    let isReleased = false;
    const running = stream.run(
      (async function* () {
        try {
          yield* upTo(5);
        } finally {
          isReleased = true;
        }
      })(),
    );
    // The request itself was the first sign of life.
    await clock.advance(4 * beatMs);
    await running;
    expect(ends).toMatchObject([{ code: "UNAVAILABLE", reason: "STREAM_SILENT" }]);
    expect(ends[0]).toBeInstanceOf(Fault);
    expect(isReleased).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  test("with its counterpart: every item arrives in order and production is never more than a window ahead", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 120 }),
        fc.array(fc.boolean(), { maxLength: 60 }),
        async (window, count, pauses) => {
          const clock = new FakeClock();
          const pulled = { count: 0 };
          let consumed = 0;
          let isAhead = false;
          const incoming: IncomingStream<number> = new IncomingStream(
            { method: "Echo.Count", window, beatMs, clock, decode: decodeNumber },
            { grant: (_instance, total) => outgoing.grant(total), cancel: () => undefined, finished: () => undefined },
          );
          const outgoing = new OutgoingStream(
            { method: "Echo.Count", instance: "s1", window, beatMs, clock, encode: encodeNumber },
            {
              send: (bytes) => {
                isAhead ||= pulled.count > consumed + window;
                incoming.receive(bytes);
                return true;
              },
              limitBytes: () => 1_000_000,
              fail: (thrown) => incoming.fail(thrown as Fault),
              abandon: (fault) => incoming.fail(fault),
            },
          );
          const running = outgoing.run(upTo(count, pulled));
          const received: number[] = [];
          for (let next = await incoming.next(); next.done !== true; next = await incoming.next()) {
            received.push(next.value);
            consumed += 1;
            if (pauses[consumed] === true) await settled();
          }
          await running;
          expect(received).toEqual(Array.from({ length: count }, (_, index) => index));
          expect(isAhead).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  });
});
