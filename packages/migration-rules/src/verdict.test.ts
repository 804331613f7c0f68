import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alarmsOf } from "./alarm.ts";
import { configuration, force, participant, view } from "./testing/world.ts";
import { canRun, verdictsFor } from "./verdict.ts";
import type { MigrationParticipant, MigrationView } from "./view.ts";

const any = configuration("moves", { route: "*" });
const toCloud = configuration("moves", { route: "cloud" });
const toKube = configuration("moves", { route: "kube" });

function refusedIn(world: MigrationView): readonly string[] {
  return world.participants
    .filter((one) => verdictsFor(world, one).some(({ isRefused }) => isRefused))
    .map(({ instance }) => instance);
}

const alarmsIn = (world: MigrationView) =>
  alarmsOf(world).map(({ controller, kind, participants }) => ({
    alarm: `${kind} ${controller}`.trim(),
    who: participants.map(({ release }) => `${release.component} ${release.version}`),
  }));

/** Who takes part, what is in force, who is refused, what is alarming. */
const cases: readonly [
  string,
  readonly MigrationParticipant[],
  MigrationView["inForce"],
  readonly string[],
  readonly object[],
][] = [
  [
    "agreement",
    [participant("kube 1.0.0", ["route"], [any]), participant("cloud 1.1.0", ["route"], [any])],
    [force(any)],
    [],
    [],
  ],
  [
    "migration off in one component alone: its primary lock excludes, nothing is refused",
    [participant("kube 1.0.0", ["route"])],
    [force(any)],
    [],
    [{ alarm: "disagreement route", who: ["kube 1.0.0"] }],
  ],
  [
    "enabling node by node within one component",
    [participant("kube 1.0.0", ["route"]), participant("kube 1.0.0", ["route"], [any], "other-node")],
    [force(any)],
    [],
    [{ alarm: "disagreement route", who: ["kube 1.0.0", "kube 1.0.0"] }],
  ],
  [
    "migration off in one component, on in the other: refused where it is off",
    [participant("kube 1.0.0", ["route"]), participant("cloud 1.1.0", ["route"], [any])],
    [force(any)],
    ["kube-1.0.0"],
    [{ alarm: "disagreement route", who: ["cloud 1.1.0", "kube 1.0.0"] }],
  ],
  [
    "a configuration that moved on: the lock refuses the former component, which may finish its term",
    [participant("kube 1.0.0", ["route"], [toKube]), participant("cloud 1.1.0", ["route"], [toCloud])],
    [force(toCloud)],
    [],
    [{ alarm: "disagreement route", who: ["cloud 1.1.0", "kube 1.0.0"] }],
  ],
  [
    "another lock than the one in force",
    [
      participant("kube 1.0.0", ["route"], [configuration("else", { route: "*" })]),
      participant("cloud 1.1.0", ["route"], [any]),
    ],
    [force(any)],
    ["kube-1.0.0"],
    [{ alarm: "disagreement route", who: ["cloud 1.1.0", "kube 1.0.0"] }],
  ],
  [
    "migration off in both components: who joined first keeps it",
    [participant("kube 1.0.0", ["route"]), participant("cloud 1.1.0", ["route"])],
    [force(any)],
    ["cloud-1.1.0"],
    [{ alarm: "disagreement route", who: ["kube 1.0.0", "cloud 1.1.0"] }],
  ],
  [
    "nothing in force: who joined first keeps it",
    [participant("kube 1.0.0", ["route"]), participant("cloud 1.1.0", ["route"], [any])],
    [],
    ["cloud-1.1.0"],
    [{ alarm: "disagreement route", who: ["kube 1.0.0", "cloud 1.1.0"] }],
  ],
  [
    "nothing in force: two locks for one controller",
    [
      participant("kube 1.0.0", ["route"], [configuration("else", { route: "*" })]),
      participant("cloud 1.1.0", ["route"], [any]),
    ],
    [],
    ["cloud-1.1.0"],
    [{ alarm: "overlap route", who: ["kube 1.0.0", "cloud 1.1.0"] }],
  ],
  [
    "nothing in force and one lock for all",
    [participant("kube 1.0.0", ["route"], [any]), participant("cloud 1.1.0", ["route"], [any])],
    [],
    [],
    [],
  ],
  [
    "a release without the controller",
    [participant("kube 1.1.0", []), participant("cloud 1.1.0", ["route"])],
    [],
    [],
    [],
  ],
  [
    "two that each leave it to the other",
    [participant("kube 1.0.0", ["route"], [toCloud]), participant("cloud 1.1.0", ["route"], [toKube])],
    [],
    [],
    [{ alarm: "orphaned route", who: ["kube 1.0.0", "cloud 1.1.0"] }],
  ],
  [
    "nobody who may run it",
    [participant("kube 1.0.0", ["route"], [toCloud])],
    [force(toCloud)],
    [],
    [{ alarm: "orphaned route", who: ["kube 1.0.0"] }],
  ],
  ["nobody at all", [], [force(any)], [], [{ alarm: "orphaned route", who: [] }]],
  [
    "only one with another digest, whom the lock refuses",
    [participant("cloud 1.1.0", ["route"], [any])],
    [force(toCloud)],
    [],
    [
      { alarm: "disagreement route", who: ["cloud 1.1.0"] },
      { alarm: "orphaned route", who: ["cloud 1.1.0"] },
    ],
  ],
  [
    "two configurations in force that overlap: the older counts",
    [participant("kube 1.0.0", ["route"], [any])],
    [force(any, 1n), force(configuration("later", { route: "*" }), 2n)],
    [],
    [{ alarm: "overlap route", who: [] }],
  ],
];

describe("verdicts and alarms", () => {
  it.each(cases)("on %s", (_title, participants, inForce, refused, alarms) => {
    const world = view(participants, inForce);
    expect(refusedIn(world)).toEqual(refused);
    expect(alarmsIn(world)).toEqual(alarms);
  });

  it("leave a controller to who holds its lease when nothing is in force", () => {
    const participants = [participant("kube 1.0.0", ["route"]), participant("cloud 1.1.0", ["route"], [any])];
    expect(refusedIn(view(participants, [], { route: "cloud-1.1.0" }))).toEqual(["kube-1.0.0"]);
  });

  it("refuse in a dispute all but one side, whatever the order of joining", () => {
    const sides = [
      participant("kube 1.0.0", ["route"]),
      participant("cloud 1.1.0", ["route"], [any]),
      participant("edge 0.1.0", ["route"]),
    ];
    for (const order of [sides, sides.toReversed(), [sides[1]!, sides[0]!, sides[2]!]]) {
      expect(refusedIn(view(order))).toHaveLength(2);
    }
  });

  it("let, whoever holds the primary locks, one of those that can run a controller, and no two of them", () => {
    const locks = [any, toCloud, toKube, configuration("else", { route: "*" }), configuration("none", {})];
    const someone = fc
      .record({
        component: fc.constantFrom("kube", "cloud", "edge"),
        lock: fc.constantFrom(...locks),
        instance: fc.nat(9),
      })
      .map(({ component, instance, lock }) =>
        participant(`${component} 1.0.0`, ["route"], [lock], `${component}-${instance}`),
      );
    const everyone = fc.uniqueArray(someone, { selector: ({ instance }) => instance, maxLength: 6 });
    const ruled = fc.constantFrom(undefined, ...locks);
    fc.assert(
      fc.property(everyone, ruled, fc.nat(5), (participants, rule, runner) => {
        const runners = participants[runner] === undefined ? {} : { route: participants[runner].instance };
        // The last of a component holds its primary lock.
        const holders = Object.fromEntries(participants.map((one) => [one.release.component, one.instance]));
        const world = view(participants, rule === undefined ? [] : [force(rule)], runners, holders);
        const able = world.participants.filter((one) => canRun(world, world.inForce[0], one, "route"));
        const running = able.filter((one) => verdictsFor(world, one).some(({ lock }) => lock !== undefined));
        expect(new Set(running.map(({ controllers }) => controllers[0]?.lock)).size).toBe(able.length > 0 ? 1 : 0);
      }),
    );
  });

  it.each<[string, readonly MigrationParticipant[], MigrationView["inForce"], readonly string[]]>([
    [
      "nothing in force",
      [
        participant("cloud 1.1.0", ["route"], [], "standby"),
        participant("kube 1.0.0", ["route"], [], "kube"),
        participant("cloud 1.1.0", ["route"], [], "cloud"),
      ],
      [],
      ["cloud"],
    ],
    [
      "a standby that would be right",
      [
        participant("kube 1.0.0", ["route"], [], "kube"),
        participant("cloud 1.1.0", ["route"], [any], "standby"),
        participant("cloud 1.1.0", ["route"], [], "cloud"),
      ],
      [force(any)],
      ["cloud"],
    ],
    [
      "one that the lock refuses",
      [participant("kube 1.0.0", ["route"], [toKube], "kube"), participant("cloud 1.1.0", ["route"], [], "cloud")],
      [force(toCloud)],
      [],
    ],
  ])("refuse nothing because of who cannot run it: %s", (_title, participants, inForce, refused) => {
    const world = view(participants, inForce, {}, { kube: "kube", cloud: "cloud" });
    expect(refusedIn(world)).toEqual(refused);
  });

  it("raise the alarm for one lock with contradicting rules, and refuse nothing: the lock excludes", () => {
    const world = view([
      participant("kube 1.0.0", ["route"], [toKube]),
      participant("cloud 1.1.0", ["route"], [toCloud]),
    ]);
    expect(refusedIn(world)).toEqual([]);
    expect(alarmsIn(world)).toEqual([{ alarm: "disagreement route", who: ["kube 1.0.0", "cloud 1.1.0"] }]);
  });

  it("raise the alarm for a controller that is left to one whose lock another holds", () => {
    const split = configuration("moves", { route: "kube", service: "cloud" });
    const sides = [
      participant("kube 1.0.0", ["route", "service"], [split], "kube"),
      participant("cloud 1.1.0", ["route", "service"], [split], "cloud"),
    ];
    const primaries = { kube: "kube", cloud: "cloud" };
    expect(alarmsIn(view(sides, [force(split)], {}, primaries))).toEqual([]);
    const world = view(sides, [force(split)], {}, { ...primaries, moves: "kube" });
    expect(alarmsIn(world)).toEqual([{ alarm: "orphaned service", who: ["kube 1.0.0", "cloud 1.1.0"] }]);
    expect(alarmsOf(world)[0]?.message).toContain("kube holds kube-system/moves");
  });

  it("name both sides with their versions, what is refused and what to do", () => {
    const world = view(
      [participant("kube 1.0.0", ["route"]), participant("cloud 1.1.0", ["route"], [any])],
      [force(any)],
    );
    expect(alarmsOf(world)[0]?.message).toBe(
      "configuration moves is in force and names route, but kube 1.0.0 (kube-1.0.0) runs it under kube-system/kube; cloud 1.1.0 (cloud-1.1.0) agrees with it; refused on kube 1.0.0 (kube-1.0.0): give all of them configuration moves",
    );
    const [kube, cloud] = world.participants.map((one) => verdictsFor(world, one)[0]);
    expect(kube).toMatchObject({ placement: "migrated", lock: undefined, isRefused: true });
    expect(kube?.message).toContain("cloud 1.1.0 (cloud-1.1.0) runs it under kube-system/moves");
    expect(cloud).toMatchObject({ placement: "migrated", lock: "kube-system/moves", isRefused: false });
  });

  it("speak of one participant for each side of a large fleet, the one that runs or joined first", () => {
    const fleet = ["a", "b", "c"].map((name) => participant("kube 1.0.0", ["route"], [], name));
    const world = view([...fleet, participant("cloud 1.1.0", ["route"], [any])], [force(any)]);
    expect(alarmsOf(world).map(({ participants }) => participants.map(({ instance }) => instance))).toEqual([
      ["cloud-1.1.0", "a"],
    ]);
    const running = { ...world, runners: new Map([["route", "b"]]) };
    expect(alarmsOf(running)[0]?.participants.map(({ instance }) => instance)).toEqual(["cloud-1.1.0", "b"]);
  });

  it("warn of more than two locks", () => {
    const many = ["a", "b", "c"].map((name) => configuration(name, { [name]: "*" }));
    expect(alarmsIn(view([participant("kube 1.0.0", ["a", "b", "c"], many)]))).toEqual([
      { alarm: "tooManyLocks", who: ["kube 1.0.0"] },
    ]);
    expect(alarmsIn(view([participant("kube 1.0.0", ["a", "b"], many.slice(0, 2))]))).toEqual([]);
  });
});
