import { expect, it } from "vitest";
import { JuteReader, JuteWriter, PacketReader } from "./jute.ts";

it("what is written is read again, also beyond the first buffer", () => {
  const text = "x".repeat(300);
  const packet = new JuteWriter().int(-2).long(-3n).text(text).int(2).text("a").text("").flag(true).packet();
  const seen: Buffer[] = [];
  const reader = new PacketReader((one) => seen.push(one));
  reader.take(packet.subarray(0, 10));
  reader.take(Buffer.concat([packet.subarray(10), packet]));
  expect(seen).toHaveLength(2);
  for (const one of seen) {
    const read = new JuteReader(one);
    expect([read.int(), read.long(), read.text(), read.texts()]).toEqual([-2, -3n, text, ["a", ""]]);
  }
});
