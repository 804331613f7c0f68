import type { CallOptions } from "@tenure/bus";
import { LeaseServiceAcquireRequest, StoreServiceBeatRequest, StoreServiceBeatResponse } from "@tenure/contracts";
import { Backoff, FakeClock, seededRandom } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { OpenWait } from "./open-wait.ts";
import { OwnerRoutes } from "./owner-routes.ts";
import { StoreCall } from "./store-call.ts";
import { OwnerDesk } from "./testing/owner-desk.ts";
import { WaitBeats, WaitGroup } from "./wait-beats.ts";
import { wireField } from "./wire-field.ts";

function setUp() {
  const clock = new FakeClock({ startMs: 10_000 });
  const desk = new OwnerDesk();
  const sends: CallOptions[] = [];
  const waitCall = (partition: number, clientId: string) => {
    const message = { attempt: { clientId, number: 3n }, wait: {}, sendNumber: 1n };
    const request = LeaseServiceAcquireRequest.encode(LeaseServiceAcquireRequest.fromPartial(message)).finish();
    const call = new StoreCall(
      {
        clock,
        routes: new OwnerRoutes(8),
        backoff: () => new Backoff({ firstMs: 1, limitMs: 1 }, seededRandom(1)),
        onOver: () => {},
      },
      {
        partition,
        send(_, options) {
          sends.push(options);
          return { cancel() {} };
        },
        request,
        options: { principal: "p", deadlineMs: 60_000 },
        isChange: true,
        lane: undefined,
        wait: new OpenWait(request, wireField(request, 4) ?? new Uint8Array(0), clock),
        done: () => {},
      },
    );
    call.send();
    return call;
  };
  const beatsOf = (at: number) =>
    StoreServiceBeatRequest.decode(desk.calls[at]?.request ?? new Uint8Array(0)).beats.map(
      ({ attemptNumber, clientId, principal, sendNumber }) => [clientId, attemptNumber, sendNumber, principal],
    );
  return { clock, desk, sends, waitCall, beatsOf, beats: new WaitBeats(desk, clock) };
}

describe("WaitBeats", () => {
  it("passes on the newest beat of every wait, those of all clients of a partition in one call", async () => {
    const { beats, beatsOf, clock, desk, waitCall } = setUp();
    const [one, two] = [new WaitGroup("ann"), new WaitGroup("ben")];
    one.add(waitCall(1, "a1"));
    one.add(waitCall(2, "a2"));
    two.add(waitCall(1, "b"));
    beats.beat(one, 4n);
    beats.beat(one, 5n);
    beats.beat(two, 9n);
    await clock.advance(0);
    expect(desk.calls.map(({ name, partition }) => [name, partition])).toEqual([
      ["StoreService.Beat", 1],
      ["StoreService.Beat", 2],
    ]);
    expect(beatsOf(0)).toEqual([
      ["a1", 3n, 5n, "ann"],
      ["b", 3n, 9n, "ben"],
    ]);
    expect(beatsOf(1)).toEqual([["a2", 3n, 5n, "ann"]]);
  });

  it("passes beats on at once after a pause, and otherwise every 100 ms", async () => {
    const { beats, clock, desk, waitCall } = setUp();
    const group = new WaitGroup("ann");
    group.add(waitCall(1, "a"));
    for (let number = 1n; number <= 50n; number += 1n) {
      beats.beat(group, number);
      await clock.advance(10);
    }
    await clock.advance(1_000);
    expect(desk.calls.length).toBe(6);
    beats[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it("has a wait sent again that its owner does not know, unless it was sent only just now", async () => {
    const { beats, clock, desk, sends, waitCall } = setUp();
    const group = new WaitGroup("ann");
    group.add(waitCall(1, "a"));
    const unknown = StoreServiceBeatResponse.encode({ unknown: [0] }).finish();
    beats.beat(group, 2n);
    await clock.advance(100);
    desk.calls[0]?.answer(unknown);
    expect(sends).toHaveLength(1);
    await clock.advance(2_000);
    beats.beat(group, 3n);
    await clock.advance(100);
    desk.calls[1]?.answer(unknown);
    expect(sends).toHaveLength(2);
  });

  it("sends nothing for a client that waits for nothing", async () => {
    const { beats, clock, desk } = setUp();
    beats.beat(new WaitGroup("ann"), 1n);
    await clock.advance(1_000);
    expect(desk.calls).toEqual([]);
  });
});
