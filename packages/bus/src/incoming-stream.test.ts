import { FakeClock } from "@tenure/kernel";
import { describe, expect, test } from "vitest";
import { cancelled, serverStopping } from "./faults.ts";
import { IncomingStream, type IncomingStreamPort } from "./incoming-stream.ts";
import { encodeBeat, encodeEnd, encodeItems, encodeOpened } from "./stream-frame.ts";

const beatMs = 100;

/** A stream whose items are single bytes, and what it sent to the server. */
function openStream(window = 4) {
  const clock = new FakeClock();
  const sent: string[] = [];
  const port: IncomingStreamPort = {
    grant: (instance, total) => void sent.push(`grant ${instance} ${total}`),
    cancel: (instance) => void sent.push(`cancel ${instance ?? "all"}`),
    finished: () => void sent.push("finished"),
  };
  const decode = (bytes: Uint8Array): number => {
    if (bytes.byteLength !== 1) throw new RangeError("not one byte");
    return bytes[0] ?? 0;
  };
  const stream = new IncomingStream<number>({ method: "Echo.Count", window, beatMs, clock, decode }, port);
  return { clock, sent, stream };
}

const items = (number: number, ...values: number[]): Uint8Array =>
  encodeItems(
    number,
    values.map((value) => Uint8Array.of(value)),
    values.length,
  );

describe("IncomingStream", () => {
  test("delivers items in order, to whoever waits and to who comes later, then ends", async () => {
    const { stream, sent } = openStream();
    const first = stream.next();
    stream.receive(encodeOpened(1, "s1"));
    stream.receive(items(2, 7, 8));
    stream.receive(encodeEnd(3));
    expect(await first).toEqual({ done: false, value: 7 });
    expect(await stream.next()).toEqual({ done: false, value: 8 });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(sent).toEqual(["finished"]);
  });

  test("grants a new window when half of the last is consumed, and only then", async () => {
    const { stream, sent } = openStream(4);
    stream.receive(encodeOpened(1, "s1"));
    stream.receive(items(2, 1, 2, 3, 4));
    await stream.next();
    expect(sent).toEqual([]);
    await stream.next();
    expect(sent).toEqual(["grant s1 6"]);
    await stream.next();
    expect(sent).toEqual(["grant s1 6"]);
    await stream.next();
    expect(sent).toEqual(["grant s1 6", "grant s1 8"]);
  });

  test("fails with STREAM_GAP after what came before the gap, and tells the server", async () => {
    const { stream, sent } = openStream();
    stream.receive(encodeOpened(1, "s1"));
    stream.receive(items(2, 1));
    stream.receive(items(4, 3));
    expect(await stream.next()).toEqual({ done: false, value: 1 });
    await expect(stream.next()).rejects.toMatchObject({ code: "UNAVAILABLE", reason: "STREAM_GAP" });
    expect(sent).toEqual(["finished", "cancel s1"]);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  test("sees the loss of a last item at the next heartbeat, and a frame that comes twice", async () => {
    for (const number of [1, 3]) {
      const { stream } = openStream();
      stream.receive(encodeOpened(1, "s1"));
      stream.receive(encodeBeat(number));
      await expect(stream.next()).rejects.toMatchObject({ reason: "STREAM_GAP" });
    }
  });

  test.each([
    ["malformed frames", Uint8Array.of(9), "STREAM_BROKEN"],
    ["more items than it granted", items(2, 1, 2, 3, 4, 5), "STREAM_BROKEN"],
    ["an item that is none", encodeItems(2, [Uint8Array.of(1, 2)], 2), "MALFORMED_MESSAGE"],
  ])("fails on %s", async (_what, frame, reason) => {
    const { stream, sent } = openStream(4);
    stream.receive(encodeOpened(1, "s1"));
    stream.receive(frame);
    const read = async (): Promise<void> => {
      while ((await stream.next()).done !== true);
    };
    await expect(read()).rejects.toMatchObject({ code: "INTERNAL", reason });
    expect(sent).toContain("cancel s1");
  });

  test("fails with STREAM_SILENT when three heartbeats are missed, also before the first frame", async () => {
    const { stream, clock, sent } = openStream();
    const failing = expect(stream.next()).rejects.toMatchObject({ code: "UNAVAILABLE", reason: "STREAM_SILENT" });
    await clock.advance(2 * beatMs + 99);
    expect(sent).toEqual([]);
    await clock.advance(1);
    await failing;
    expect(sent).toEqual(["finished", "cancel all"]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("lives as long as anything arrives, and beats to the server while it does", async () => {
    const { stream, clock, sent } = openStream(4);
    stream.receive(encodeOpened(1, "s1"));
    for (let beat = 0; beat < 10; beat += 1) {
      stream.receive(encodeBeat(beat + 2));
      await clock.advance(beatMs);
    }
    expect(sent).toEqual(Array.from({ length: 10 }, () => "grant s1 4"));
    await stream.return();
    expect(clock.pendingTimers).toBe(0);
  });

  test("leaves at once on return, telling the server, whatever is queued", async () => {
    const { stream, sent } = openStream();
    stream.receive(encodeOpened(1, "s1"));
    stream.receive(items(2, 1));
    expect(await stream.return()).toEqual({ done: true, value: undefined });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(await stream.return()).toEqual({ done: true, value: undefined });
    expect(sent).toEqual(["finished", "cancel s1"]);
  });

  test("drops what is queued when its consumer cancels, but not when its server fails", async () => {
    const failed = openStream();
    failed.stream.receive(encodeOpened(1, "s1"));
    failed.stream.receive(items(2, 1));
    failed.stream.fail(serverStopping("Echo.Count"));
    expect(await failed.stream.next()).toEqual({ done: false, value: 1 });
    await expect(failed.stream.next()).rejects.toMatchObject({ reason: "SERVER_STOPPING" });
    expect(failed.sent).toEqual(["finished"]);
    const dropped = openStream();
    dropped.stream.receive(encodeOpened(1, "s1"));
    dropped.stream.receive(items(2, 1));
    dropped.stream.cancel(cancelled("Echo.Count", "UNKNOWN"));
    await expect(dropped.stream.next()).rejects.toMatchObject({ code: "CANCELLED" });
    expect(dropped.sent).toEqual(["finished", "cancel s1"]);
  });

  test("settles every waiter: the first with the failure, the others with the end", async () => {
    const { stream } = openStream();
    const first = expect(stream.next()).rejects.toMatchObject({ reason: "SERVER_STOPPING" });
    const second = stream.next();
    stream.fail(serverStopping("Echo.Count"));
    await first;
    expect(await second).toEqual({ done: true, value: undefined });
  });
});
