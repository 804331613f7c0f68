import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { Cursors } from "./cursors.ts";
import { TailAudit } from "./tail-audit.ts";

function setUp(told: bigint) {
  const clock = new FakeClock();
  const cursors = new Cursors(new Map([[0, told]]));
  const state = { last: told as bigint | undefined, isDown: false, known: 0n };
  const behind: string[] = [];
  const wentBack: unknown[] = [];
  const audit = new TailAudit({
    clock,
    cursors,
    readLast: async () => {
      if (state.isDown) throw new Error("nobody answers");
      return state.last === undefined ? undefined : { sequence: state.last, payload: new Uint8Array(), prev: 0n };
    },
    onBehind: (why) => behind.push(why),
    onWentBack: (...facts) => wentBack.push(facts),
    knownUpTo: () => state.known,
  });
  return { clock, cursors, state, behind, wentBack, audit };
}

describe("TailAudit", () => {
  it("says nothing while the tail stands at the log's end, or nobody answers", async () => {
    const { audit, behind, clock, state, wentBack } = setUp(7n);
    await clock.advance(100_000);
    state.isDown = true;
    await clock.advance(100_000);
    expect([...behind, ...wentBack]).toEqual([]);
    audit[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it("finds a tail that is given nothing, seen twice", async () => {
    const { behind, clock, cursors, state } = setUp(7n);
    state.last = 8n;
    await clock.advance(30_000);
    expect(behind).toEqual([]);
    await clock.advance(15_000);
    expect(behind).toEqual(["partition 0 ends at 8, told up to 7"]);
    cursors.judge(0, 8n, 7n);
    await clock.advance(60_000);
    expect(behind).toHaveLength(1);
  });

  it("leaves a tail alone that moves between two looks", async () => {
    const { behind, clock, cursors, state } = setUp(7n);
    state.last = 9n;
    await clock.advance(30_000);
    cursors.judge(0, 8n, 7n);
    await clock.advance(15_000);
    expect(behind).toEqual([]);
  });

  it("finds a log that has lost an append of the reader's own before it was told", async () => {
    const { behind, clock, state, wentBack } = setUp(7n);
    state.known = 9n;
    await clock.advance(30_000);
    expect(wentBack).toEqual([]);
    await clock.advance(15_000);
    expect([wentBack, behind]).toEqual([[[0, 7n, 9n]], []]);
  });

  it("takes an append of the reader's own that it was not told for a tail that is given nothing", async () => {
    const { behind, clock, state, wentBack } = setUp(7n);
    state.known = 9n;
    state.last = 9n;
    await clock.advance(45_000);
    expect([wentBack, behind]).toEqual([[], ["partition 0 ends at 9, told up to 7"]]);
  });

  it.each([[6n], [undefined]])("finds a log that ends at %s after 7 was told, seen twice", async (last) => {
    const { clock, state, wentBack } = setUp(7n);
    state.last = last;
    await clock.advance(30_000);
    expect(wentBack).toEqual([]);
    await clock.advance(15_000);
    expect(wentBack).toEqual([[0, last ?? 0n, 7n]]);
  });

  it("forgives one old answer", async () => {
    const { clock, state, wentBack } = setUp(7n);
    state.last = 6n;
    await clock.advance(30_000);
    state.last = 7n;
    await clock.advance(100_000);
    expect(wentBack).toEqual([]);
  });
});
