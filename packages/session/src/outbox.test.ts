import { encodeRenewals, type SessionServiceSessionResponse } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { Outbox } from "./outbox.ts";

function setUp(mostQueuedBytes = 1_000_000) {
  const sent: SessionServiceSessionResponse[] = [];
  const tooMuch: number[] = [];
  const transport = { isFull: false };
  const outbox = new Outbox({
    mostQueuedBytes,
    onTooMuch: (queuedBytes) => tooMuch.push(queuedBytes),
    send(message) {
      sent.push(message);
      return !transport.isFull;
    },
  });
  return { outbox, sent, tooMuch, transport };
}

const acks = (holds: number) =>
  encodeRenewals([{ partition: 1, sendNumber: 1, holdIds: Array.from({ length: holds }, (_, at) => at * 200 + 1) }]);
const refusal = { holdId: 1n, partition: 1, sendNumber: 1n, failure: undefined };
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("Outbox", () => {
  it("counts what waits exactly, whatever it is", async () => {
    const { outbox, transport } = setUp();
    transport.isFull = true;
    outbox.say({});
    outbox.acks(acks(10));
    outbox.refuse(Array.from({ length: 1_500 }, () => refusal));
    outbox.push({ push: undefined });
    outbox.reply(1n, { $case: "response", value: new Uint8Array(100) }, true);
    await settled();
    const before = outbox.queuedBytes;
    outbox.onDrain();
    expect([before, outbox.queuedBytes]).toEqual([acks(10).length + 1_500 * 200 + 200 + 116, 500 * 200]);
    transport.isFull = false;
    outbox.onDrain();
    expect(outbox.queuedBytes).toBe(0);
  });

  it("spreads acknowledgements over several messages", async () => {
    const { outbox, sent } = setUp();
    for (let at = 0; at < 8; at += 1) outbox.acks(acks(50_000));
    await settled();
    expect(sent.length).toBeGreaterThan(1);
    for (const { renewalAcks } of sent) expect(renewalAcks.length).toBeLessThan(512 * 1024);
  });

  it("tells of too much at the end of the turn, and only while the transport is full", async () => {
    const { outbox, tooMuch, transport } = setUp(1_000);
    const large = { $case: "response" as const, value: new Uint8Array(2_000) };
    outbox.reply(1n, large, true);
    await settled();
    expect(tooMuch).toEqual([]);
    transport.isFull = true;
    outbox.say({});
    outbox.reply(1n, large, true);
    expect(tooMuch).toEqual([]);
    await settled();
    expect(tooMuch).toEqual([2_016]);
  });

  it.each([
    [true, [[1n, 2n, 3n], [1n], [3n, 2n], [3n]]],
    [false, [[1n], [2n], [3n], [1n], [3n], [2n], [3n]]],
  ])("says a response that several streams get once, if the client takes that (%s)", async (isSharing, expected) => {
    const { outbox, sent } = setUp(1_000);
    outbox.isSharing = isSharing;
    const [a, b, c] = [1, 2, 3].map((byte) => ({ $case: "response" as const, value: Uint8Array.of(byte) }));
    for (const number of [1n, 2n, 3n]) outbox.reply(number, a, false);
    outbox.reply(1n, b, false);
    for (const number of [3n, 2n]) outbox.reply(number, c, false);
    outbox.reply(3n, c, true);
    await settled();
    expect(outbox.queuedBytes).toBe(0);
    expect(sent.flatMap(({ replies }) => replies.map(({ also, number }) => [number, ...also]))).toEqual(expected);
  });
});
