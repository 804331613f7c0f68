import { FakeClock, Fault, seededRandom } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { OwnerChanges } from "../replica/owner-changes.ts";
import { type OwnerCall, OwnerCalls } from "./owner-calls.ts";

/** What a call does when it is tried: an answer, a fault, or silence until it is given up. */
type Step = string | Fault | "silence";

function fault(reason: string, applied: "NO" | "UNKNOWN", code: "UNAVAILABLE" | "ABORTED" = "UNAVAILABLE"): Fault {
  return new Fault({ code, reason, message: reason, details: { applied } });
}

/** A replica that knows one owner of partition 0, and a call that is answered step by step. */
class Scene {
  readonly clock = new FakeClock();
  readonly changes = new OwnerChanges();
  readonly sent: string[] = [];
  readonly caller = new AbortController();
  epoch: bigint;
  ownEpoch: bigint | undefined;
  readonly #steps: Step[];
  readonly #calls: OwnerCalls;

  constructor(epoch: bigint, ...steps: Step[]) {
    this.epoch = epoch;
    this.#steps = steps;
    const at = () => ({ state: { epoch: this.epoch }, ownEpoch: this.ownEpoch });
    this.#calls = new OwnerCalls({
      replica: { at },
      changes: this.changes,
      clock: this.clock,
      random: seededRandom(1),
    });
  }

  /** The log names another owner. */
  move(epoch: bigint): void {
    this.epoch = epoch;
    this.changes.notify(0);
  }

  call(isRepeatable: boolean, withinMs = 5_000): Promise<string> {
    const { signal } = this.caller;
    const endsMs = this.clock.now() + withinMs;
    const call: OwnerCall<string> = {
      partition: 0,
      isRepeatable,
      local: (givenUp) => this.#step("here", givenUp),
      remote: (route, options) => this.#step(route, options.signal),
    };
    const scope = { signal, principal: "test", remainingMs: () => Math.max(0, endsMs - this.clock.now()) };
    return this.#calls.call(call, scope);
  }

  #step(to: string, signal: AbortSignal): Promise<string> {
    this.sent.push(to);
    const step = this.#steps.shift() ?? "answer";
    if (step instanceof Fault) return Promise.reject(step);
    if (step !== "silence") return Promise.resolve(step);
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(fault("CANCELLED", "UNKNOWN")), { once: true });
    });
  }
}

/** Lets the scene run until the call is over. */
async function outcome(scene: Scene, call: Promise<string>, forMs = 6_000): Promise<string> {
  const settled = call.catch((thrown: Fault) => `${thrown.reason} ${thrown.details.applied}`);
  await scene.clock.advance(0);
  await scene.clock.advance(forMs);
  return settled;
}

describe("a call to the owner of a partition", () => {
  it("goes on the owner's route, or is answered here by a replica that owns", async () => {
    const elsewhere = new Scene(7n);
    expect(await outcome(elsewhere, elsewhere.call(true))).toBe("answer");
    expect(elsewhere.sent).toEqual(["0.7"]);
    const here = new Scene(7n);
    here.ownEpoch = 7n;
    expect(await outcome(here, here.call(true))).toBe("answer");
    expect(here.sent).toEqual(["here"]);
  });

  it.each(["NO_RESPONDER", "OWNER_CHANGED", "SERVER_STOPPING"])("is sent again after %s", async (reason) => {
    for (const isRepeatable of [true, false]) {
      const scene = new Scene(7n, fault(reason, "NO"), fault(reason, "NO"));
      expect(await outcome(scene, scene.call(isRepeatable))).toBe("answer");
      expect(scene.sent).toEqual(["0.7", "0.7", "0.7"]);
    }
  });

  it("is sent to the new owner as soon as the log names one, without waiting the pause out", async () => {
    const scene = new Scene(7n, ...Array.from({ length: 8 }, () => fault("NO_RESPONDER", "NO")));
    const answer = scene.call(false);
    await scene.clock.advance(0);
    await scene.clock.advance(500);
    const before = scene.sent.length;
    scene.move(8n);
    await scene.clock.advance(0);
    expect(scene.sent.slice(before)).toEqual(["0.8"]);
    expect(await outcome(scene, answer)).toBe("answer");
  });

  it("waits for a first owner, and is refused when there is none before its deadline", async () => {
    const scene = new Scene(0n);
    const answer = scene.call(false);
    await scene.clock.advance(500);
    expect(scene.sent).toEqual([]);
    scene.move(1n);
    expect(await outcome(scene, answer)).toBe("answer");
    const never = new Scene(0n);
    expect(await outcome(never, never.call(false))).toBe("NO_OWNER NO");
  });

  it("is not sent again when it may have been applied, unless that does no harm", async () => {
    const unknown = () => fault("SERVER_STOPPING", "UNKNOWN");
    const once = new Scene(7n, unknown());
    expect(await outcome(once, once.call(false))).toBe("SERVER_STOPPING UNKNOWN");
    expect(once.sent).toHaveLength(1);
    const twice = new Scene(7n, unknown());
    expect(await outcome(twice, twice.call(true))).toBe("answer");
  });

  it.each([
    ["ended unknown", fault("APPEND_UNKNOWN", "UNKNOWN")],
    ["was given up because its owner was replaced", "silence"],
  ] as const)("is not told that nothing was changed when an earlier sending %s", async (_, first) => {
    const ends: readonly (readonly [string, readonly Fault[]])[] = [
      ["NO_RESPONDER UNKNOWN", Array.from({ length: 1_000 }, () => fault("NO_RESPONDER", "NO"))],
      ["PARTITION_HALTED UNKNOWN", [fault("PARTITION_HALTED", "NO")]],
      ["REVISION_CONFLICT UNKNOWN", [fault("NO_RESPONDER", "NO"), fault("REVISION_CONFLICT", "NO", "ABORTED")]],
    ];
    for (const [told, faults] of ends) {
      const scene = new Scene(7n, first, ...faults);
      const answer = scene.call(true, 2_000);
      await scene.clock.advance(0);
      scene.move(8n);
      expect(await outcome(scene, answer)).toBe(told);
    }
  });

  it("is given up a while after the log names another owner, and sent to that one, if that does no harm", async () => {
    const scene = new Scene(7n, "silence");
    const answer = scene.call(true);
    await scene.clock.advance(50);
    scene.move(8n);
    await scene.clock.advance(99);
    expect(scene.sent).toEqual(["0.7"]);
    await scene.clock.advance(1);
    expect(scene.sent).toEqual(["0.7", "0.8"]);
    expect(await outcome(scene, answer)).toBe("answer");
    const kept = new Scene(7n, "silence");
    const waiting = kept.call(false);
    kept.move(8n);
    await kept.clock.advance(1_000);
    expect(kept.sent).toEqual(["0.7"]);
    kept.caller.abort(fault("CANCELLED", "UNKNOWN"));
    expect(await outcome(kept, waiting)).toBe("CANCELLED UNKNOWN");
  });

  it("takes the late answer of an owner that has been replaced", async () => {
    const scene = new Scene(7n, "late");
    const answer = scene.call(true);
    scene.move(8n);
    expect(await outcome(scene, answer)).toBe("late");
    expect(scene.sent).toEqual(["0.7"]);
  });

  it.each([
    ["a refusal", fault("REVISION_CONFLICT", "NO", "ABORTED")],
    ["a partition that halted", fault("PARTITION_HALTED", "NO")],
    ["a partition that recovers", fault("RECOVERING", "NO")],
  ])("passes %s on", async (_, refusal) => {
    const scene = new Scene(7n, refusal);
    expect(await outcome(scene, scene.call(true))).toBe(`${refusal.reason} NO`);
    expect(scene.sent).toHaveLength(1);
  });

  it("ends at its deadline with the last refusal, and at once when its caller has gone", async () => {
    const refusals = () => Array.from({ length: 1_000 }, () => fault("NO_RESPONDER", "NO"));
    const scene = new Scene(7n, ...refusals());
    expect(await outcome(scene, scene.call(true, 2_000))).toBe("NO_RESPONDER NO");
    const left = new Scene(7n, ...refusals());
    const answer = outcome(left, left.call(true), 0);
    await left.clock.advance(100);
    left.caller.abort(fault("CANCELLED", "NO"));
    const sent = left.sent.length;
    await left.clock.advance(1_000);
    expect(left.sent.length - sent).toBeLessThanOrEqual(1);
    expect(await answer).toBe("NO_RESPONDER NO");
    expect(left.clock.pendingTimers).toBe(0);
  });
});
