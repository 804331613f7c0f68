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
    outbox.reply({ number: 1n, outcome: { $case: "response", value: new Uint8Array(100) }, end: true });
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
    const large = { number: 1n, outcome: { $case: "response" as const, value: new Uint8Array(2_000) }, end: true };
    outbox.reply(large);
    await settled();
    expect(tooMuch).toEqual([]);
    transport.isFull = true;
    outbox.say({});
    outbox.reply(large);
    expect(tooMuch).toEqual([]);
    await settled();
    expect(tooMuch).toEqual([2_016]);
  });
});
