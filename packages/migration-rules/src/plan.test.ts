import type { Transition } from "@tenure/core";
import { describe, expect, it } from "vitest";
import { doubleRunOf } from "./alarm.ts";
import { overlapIn, type Period, periodsOf } from "./period.ts";
import { nextSteps, type PlanView, rollbackSteps } from "./plan.ts";
import { configuration, force, participant, view } from "./testing/world.ts";

const moves = configuration("moves", { route: "*", service: "*" });
const controllers = ["route", "service"];
const kube = participant("kube 1.0.0", controllers, [moves]);
const cloud = participant("cloud 1.1.0", controllers, [moves]);

function line(
  sequence: number,
  kind: "granted" | "ended",
  holder: string,
  token: number,
  component = "kube",
): Transition {
  const position = { sequence: BigInt(sequence), wallMs: sequence, seenAtMs: 0 } as Transition["position"];
  const details = { participant: { component, version: "1.0.0", configurationDigest: "" } };
  const cause = kind === "granted" ? "acquired" : "released";
  return { position, kind, holder, token: BigInt(token), author: "", cause, details };
}

describe("running periods", () => {
  it("are the terms of a lease, and disjoint by their place in the log", () => {
    const periods = periodsOf([
      line(1, "granted", "a", 1),
      line(5, "ended", "a", 1),
      line(5, "granted", "b", 5),
      line(9, "ended", "b", 5),
      line(12, "granted", "a", 12),
    ]);
    expect(periods.map(({ from, holder, to, token }) => [holder, token, from.sequence, to?.sequence])).toEqual([
      ["a", 1n, 1n, 5n],
      ["b", 5n, 5n, 9n],
      ["a", 12n, 12n, undefined],
    ]);
    expect(overlapIn(periods)).toBeUndefined();
    expect(doubleRunOf(view([kube, cloud]), "route", periods)).toBeUndefined();
  });

  it("are left out when history no longer has their begin", () => {
    expect(periodsOf([line(5, "ended", "a", 1), line(6, "granted", "b", 6)])).toHaveLength(1);
  });

  it.each([
    [
      "one that begins before another ends",
      [line(1, "granted", "a", 1), line(2, "granted", "b", 2), line(3, "ended", "a", 1)],
    ],
    ["one that begins while another runs", [line(1, "granted", "a", 1), line(2, "granted", "b", 2)]],
    ["a token that does not grow", [line(1, "granted", "a", 3), line(2, "ended", "a", 3), line(4, "granted", "b", 2)]],
  ])("show %s", (_title, history) => {
    expect(overlapIn(periodsOf(history))).toHaveLength(2);
    const alarm = doubleRunOf(view([kube, cloud]), "route", periodsOf(history));
    expect(alarm).toMatchObject({ kind: "doubleRun", message: expect.stringMatching(/^route ran twice: a .* and b /) });
  });
});

function plan(participants: Parameters<typeof view>[0], terms: readonly Transition[] = []): PlanView {
  const periods: readonly Period[] = periodsOf(terms);
  return {
    ...view(participants, [force(moves)]),
    force: force(moves),
    holder: periods.find(({ to }) => to === undefined),
    former: periods.filter(({ to }) => to !== undefined),
  };
}

describe("a plan", () => {
  it("begins with enabling what is off", () => {
    const [first] = nextSteps(plan([participant("kube 1.0.0", controllers)]));
    expect(first).toEqual({ action: "restart kube 1.0.0 (kube-1.0.0) with configuration moves", blockedBy: [] });
  });

  it("says who holds the lock and who could take it next", () => {
    const [move, finish] = nextSteps(plan([kube, cloud], [line(1, "granted", "kube-1.0.0", 1)]));
    expect(move?.action).toBe("cloud 1.1.0 (cloud-1.1.0) takes the lock and runs route, service");
    expect(move?.blockedBy).toEqual(["kube 1.0.0 (kube-1.0.0) holds the lock with token 1"]);
    expect(finish?.blockedBy).toEqual(["cloud 1.1.0 (cloud-1.1.0) still has controllers of it"]);
  });

  it("ends with turning migration off, which nothing blocks once one component has the controllers", () => {
    const view = plan([cloud, participant("kube 1.1.0", [])], [line(2, "granted", "cloud-1.1.0", 2, "cloud")]);
    expect(nextSteps(view).at(-1)).toEqual({
      action: "delete configuration moves and turn migration off in cloud",
      blockedBy: [],
    });
  });

  it("has nothing to roll back before a hand-over", () => {
    expect(rollbackSteps(plan([kube]))).toMatchObject([
      { action: "nothing: the controllers of moves have run nowhere yet" },
    ]);
    const only = rollbackSteps(plan([kube], [line(1, "granted", "kube-1.0.0", 1)]));
    expect(only).toMatchObject([{ action: "nothing: the controllers of moves have run in kube only" }]);
  });

  it("rolls back to the component before, and says that it must be there first", () => {
    const terms = [
      line(1, "granted", "kube-1.0.0", 1),
      line(2, "ended", "kube-1.0.0", 1),
      line(2, "granted", "cloud-1.1.0", 2, "cloud"),
    ];
    const [start, stop, take] = rollbackSteps(plan([cloud], terms));
    expect(start?.action).toBe("start the former release of kube with configuration moves, node by node");
    expect(stop?.blockedBy).toEqual(["no eligible participant of kube has joined"]);
    expect(take?.blockedBy).toEqual(["cloud 1.0.0 (cloud-1.1.0) holds the lock"]);
    expect(rollbackSteps(plan([cloud, kube], terms))[2]?.action).toBe(
      "kube 1.0.0 (kube-1.0.0) takes the lock and runs route, service",
    );
  });
});
