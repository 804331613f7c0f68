import type { CallOptions } from "@tenure/bus";
import { LeaseServiceAcquireRequest } from "@tenure/contracts";
import { Backoff, FakeClock, Fault, seededRandom } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import type { Outcome } from "./open-call.ts";
import { OpenWait } from "./open-wait.ts";
import { OwnerRoutes } from "./owner-routes.ts";
import { StoreCall } from "./store-call.ts";
import { wireField } from "./wire-field.ts";

interface Sent {
  readonly request: Uint8Array;
  readonly options: CallOptions;
  isCancelled: boolean;
  answer(response: Uint8Array): void;
  fail(reason: string, code?: Fault["code"], applied?: "NO" | "UNKNOWN"): void;
}

const answer = Uint8Array.of(1);

function setUp(wait?: object) {
  const clock = new FakeClock();
  const routes = new OwnerRoutes(8);
  routes.note(3, 7n);
  const sent: Sent[] = [];
  const outcomes: Outcome[] = [];
  const over: StoreCall[] = [];
  const request = LeaseServiceAcquireRequest.encode(
    LeaseServiceAcquireRequest.fromPartial({ attempt: { clientId: "c", number: 1n }, ...(wait && { wait }) }),
  ).finish();
  const send = (bytes: Uint8Array, options: Omit<CallOptions, "signal">, done: (outcome: Outcome) => void) => {
    const call: Sent = {
      request: bytes,
      options,
      isCancelled: false,
      answer: done,
      fail(reason, code = "UNAVAILABLE", applied = "NO") {
        done(new Fault({ code, reason, message: reason, details: { applied } }));
      },
    };
    sent.push(call);
    return {
      cancel() {
        call.isCancelled = true;
      },
    };
  };
  const backoff = () => new Backoff({ firstMs: 50, limitMs: 50 }, seededRandom(1));
  const call = new StoreCall(
    { clock, routes, backoff, onOver: (one) => over.push(one) },
    {
      partition: 3,
      send,
      request,
      options: { principal: "ann", deadlineMs: 5_000 },
      isChange: true,
      lane: undefined,
      wait: wait && new OpenWait(request, wireField(request, 4) ?? new Uint8Array(0), clock),
      done: (outcome) => outcomes.push(outcome),
    },
  );
  call.send();
  return { call, clock, routes, sent, outcomes, over };
}

describe("StoreCall", () => {
  it("goes straight to the owner, with the caller's principal and deadline, and tells its answer", async () => {
    const { outcomes, sent } = setUp();
    expect(sent[0]?.options).toMatchObject({ route: "3.7", principal: "ann", deadlineMs: 5_000 });
    sent[0]?.answer(answer);
    expect(outcomes).toEqual([answer]);
  });

  it.each(["NO_RESPONDER", "OWNER_CHANGED", "SERVER_STOPPING", "APPEND_UNKNOWN"])(
    "goes by any replica, with the time that is left, after its owner answered %s",
    async (reason) => {
      const { clock, outcomes, routes, sent } = setUp();
      await clock.advance(1_000);
      sent[0]?.fail(reason);
      expect(sent[1]?.options).toMatchObject({ route: undefined, deadlineMs: 4_000 });
      expect(routes.routeOf(3)).toBeUndefined();
      sent[1]?.answer(answer);
      expect(outcomes).toEqual([answer]);
    },
  );

  it("tells a fault that another replica does not cure, and one that it was told by any replica", async () => {
    for (const [reason, code] of [
      ["LEASE_HELD", "FAILED_PRECONDITION"],
      ["PARTITION_HALTED", "UNAVAILABLE"],
      ["BUS_DISCONNECTED", "UNAVAILABLE"],
    ] as const) {
      const { outcomes, sent } = setUp();
      sent[0]?.fail(reason, code);
      expect([sent.length, outcomes]).toEqual([1, [expect.objectContaining({ reason, code })]]);
    }
    const { outcomes, sent } = setUp();
    sent[0]?.fail("NO_RESPONDER");
    sent[1]?.fail("NO_RESPONDER");
    expect(outcomes).toEqual([expect.objectContaining({ reason: "NO_RESPONDER" })]);
  });

  it("is sent to the new owner when the old one was replaced, and takes only that one's answer", async () => {
    const { call, outcomes, routes, sent } = setUp();
    call.onMoved();
    expect(sent).toHaveLength(1);
    routes.note(3, 8n);
    call.onMoved();
    expect(sent[1]?.options.route).toBe("3.8");
    sent[0]?.fail("OWNER_CHANGED");
    expect([sent.length, outcomes]).toEqual([2, []]);
    sent[1]?.answer(answer);
    call.onMoved();
    expect([sent.length, outcomes]).toEqual([2, [answer]]);
  });

  describe("says that it was surely not applied", () => {
    const applied = (outcomes: readonly Outcome[]) =>
      outcomes.map((outcome) => outcome instanceof Fault && [outcome.reason, outcome.details.applied]);

    it("when every sending of it says so", async () => {
      const { outcomes, sent } = setUp();
      sent[0]?.fail("OWNER_CHANGED");
      sent[1]?.fail("NO_RESPONDER");
      expect(applied(outcomes)).toEqual([["NO_RESPONDER", "NO"]]);
    });

    it("but not when an earlier sending may have been", async () => {
      const { outcomes, sent } = setUp();
      sent[0]?.fail("APPEND_UNKNOWN", "UNAVAILABLE", "UNKNOWN");
      sent[1]?.fail("NO_RESPONDER");
      expect(applied(outcomes)).toEqual([["NO_RESPONDER", "UNKNOWN"]]);
    });

    it("but not when the owner of an earlier sending was replaced before it answered", async () => {
      const { call, outcomes, routes, sent } = setUp();
      routes.note(3, 8n);
      call.onMoved();
      sent[1]?.fail("NO_RESPONDER");
      sent[2]?.fail("NO_RESPONDER");
      expect(applied(outcomes)).toEqual([["NO_RESPONDER", "UNKNOWN"]]);
    });
  });

  it("gives up all its sendings with it, and says nothing afterwards", async () => {
    const { call, outcomes, over, routes, sent } = setUp();
    routes.note(3, 8n);
    call.onMoved();
    call.cancel();
    call.cancel();
    sent[1]?.answer(answer);
    expect([outcomes, over]).toEqual([[], [call]]);
    expect(sent.map(({ isCancelled }) => isCancelled)).toEqual([true, true]);
  });

  describe("that waits", () => {
    it("is sent again with its age, and its first sending is given up only then", async () => {
      const { call, clock, routes, sent } = setUp({});
      await clock.advance(2_000);
      call.wait?.noteBeat(6n);
      routes.note(3, 8n);
      call.onMoved();
      const again = LeaseServiceAcquireRequest.decode(sent[1]?.request ?? new Uint8Array(0));
      expect(again.wait).toMatchObject({ age: { seconds: 2n }, beatNumber: 6n });
      expect([sent[0]?.isCancelled, sent[1]?.isCancelled]).toEqual([true, false]);
    });

    it("outlives an outage of the whole store until its deadline", async () => {
      const { clock, outcomes, sent } = setUp({});
      sent[0]?.fail("NO_RESPONDER");
      for (let tries = 1; outcomes.length === 0; tries += 1) {
        expect(sent).toHaveLength(tries + 1);
        sent[tries]?.fail("BUS_DISCONNECTED");
        await clock.advance(100);
      }
      expect(outcomes).toEqual([expect.objectContaining({ reason: "BUS_DISCONNECTED" })]);
      expect(clock.now()).toBeGreaterThan(4_800);
      expect(clock.pendingTimers).toBe(0);
    });

    it("leaves its queue when it is given up", async () => {
      const { call, outcomes, over, sent } = setUp({});
      call.cancel();
      expect([sent[0]?.isCancelled, outcomes, over]).toEqual([true, [], [call]]);
    });
  });
});
