import { expect, it } from "vitest";
import type { PackedPart } from "./packed-parts.ts";
import { PartsOfTurn } from "./parts-of-turn.ts";

const part = (number: number): PackedPart => ({ number, label: "Say", payload: new Uint8Array(0) });
const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

it("sends every part once and in order, also what is added while others are sent", async () => {
  const sent: number[][] = [];
  const parts = new PartsOfTurn<PackedPart, string>({ maxPayloadBytes: 1_000 }, (key, group) => {
    sent.push(group.map(({ number }) => number));
    if (sent.length === 1) parts.add(key, part(4), "b");
  });
  parts.add("key", part(1), "a");
  parts.add("key", part(2), "a");
  parts.add("key", part(3), "b");
  await endOfTurn();
  expect(sent).toEqual([
    [1, 2],
    [3, 4],
  ]);
});
