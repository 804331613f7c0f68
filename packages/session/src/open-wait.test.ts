import { durationToMs, LeaseServiceAcquireRequest, Wait } from "@tenure/contracts";
import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { OpenWait } from "./open-wait.ts";
import { wireField } from "./wire-field.ts";

function waitOf(clock: FakeClock, wait: object, sendNumber = 4n) {
  const request = LeaseServiceAcquireRequest.encode(
    LeaseServiceAcquireRequest.fromPartial({
      attempt: { clientId: "client", number: 9n },
      claims: [{ lease: { namespace: "n", name: "x" } }],
      wait,
      sendNumber,
    }),
  ).finish();
  return new OpenWait(request, wireField(request, 4) ?? new Uint8Array(0), clock);
}

describe("OpenWait", () => {
  it("is sent again with its age, the newest beat and what is left of its timeout, and otherwise as it was", async () => {
    const clock = new FakeClock();
    const wait = waitOf(clock, {
      timeout: { seconds: 60n, nanos: 0 },
      age: { seconds: 2n, nanos: 0 },
      supersedesKey: "k",
    });
    wait.noteBeat(7n);
    wait.noteBeat(6n);
    await clock.advance(1_500);
    const sent = LeaseServiceAcquireRequest.decode(wait.request());
    expect(sent.wait && durationToMs(sent.wait.age ?? { seconds: 0n, nanos: 0 })).toBe(3_500);
    expect(sent.wait).toMatchObject({
      beatNumber: 7n,
      supersedesKey: "k",
      timeout: { seconds: 58n, nanos: 500_000_000 },
    });
    expect(sent).toMatchObject({ attempt: { clientId: "client", number: 9n }, sendNumber: 4n });
    expect([wait.clientId, wait.attemptNumber]).toEqual(["client", 9n]);
  });

  it("begins with the number of its send, or with the beat that it came with", async () => {
    expect(waitOf(new FakeClock(), {}).beatNumber).toBe(4n);
    expect(waitOf(new FakeClock(), { beatNumber: 8n }).beatNumber).toBe(8n);
    expect(waitOf(new FakeClock(), {}, 0n).beatNumber).toBe(0n);
  });

  it("refuses a wait that is no message", async () => {
    const broken = Uint8Array.of(0x0a, 0x7f);
    expect(() => new OpenWait(Wait.encode(Wait.fromPartial({})).finish(), broken, new FakeClock())).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  });
});
