import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { durationFromMs } from "../../duration.ts";
import { Claimant } from "../../gen/tenure/v1/claim.ts";
import { Reading } from "../reading.ts";
import { claimantFromWire, renewKeyHashOf } from "./claimant.ts";

const base = {
  holder: "host-1",
  holderKey: "key",
  identity: "web-1",
  renewKeyHash: new Uint8Array(32).fill(1),
  timing: { leaseDuration: durationFromMs(15_000), usableTerm: durationFromMs(11_000) },
};
const others: Partial<Parameters<typeof Claimant.fromPartial>[0]>[] = [
  { holder: "host-2" },
  { holder: "" },
  { holderKey: "other" },
  { identity: "web-2" },
  { renewKeyHash: new Uint8Array(32).fill(2) },
  { renewKeyHash: new Uint8Array(0) },
  { value: Uint8Array.of(7) },
  { participant: { component: "web", version: "1.2.3" } },
  { timing: undefined },
  { timing: { ...base.timing, leaseDuration: durationFromMs(16_000) } },
  { timing: { ...base.timing, requestTimeout: durationFromMs(1) } },
];

function read(claimant: Parameters<typeof Claimant.fromPartial>[0], defaultHolder = "ann") {
  const reading = new Reading();
  const made = claimantFromWire(reading, Claimant.fromPartial(claimant), defaultHolder);
  return { made, violations: reading.violations };
}

describe("a claimant that is read after another", () => {
  it("is its own, whatever it differs in", () => {
    const first = read(base).made;
    expect(read(base).made).toBe(first);
    for (const other of others) {
      const { made } = read({ ...base, ...other });
      expect(made).not.toEqual(first);
      expect(read(base).made).toEqual(first);
    }
    const nameless = { ...base, holder: "" };
    expect([read(nameless, "ann").made.holder, read(nameless, "bob").made.holder]).toEqual(["ann", "bob"]);
  });

  it("is refused each time that it is out of order", () => {
    const broken = { ...base, renewKeyHash: new Uint8Array(31) };
    for (let time = 0; time < 2; time += 1) expect(read(broken).violations).toHaveLength(1);
  });
});

it("hashes each secret as its own", () => {
  const hash = (secret: Uint8Array) => createHash("sha256").update(secret).digest("hex");
  const [one, other] = [Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2, 4)];
  for (const secret of [one, one, other, one]) expect(renewKeyHashOf(secret)).toBe(hash(secret));
  expect(renewKeyHashOf(new Uint8Array(0))).toBeUndefined();
});
