import { describe, expect, it } from "vitest";
import { defaultMigrationConfiguration } from "./configuration.ts";
import { digestOf, digestOfAll } from "./digest.ts";
import { parseMigrationDocument } from "./document.ts";
import { placementOf } from "./placement.ts";
import { configuration } from "./testing/world.ts";

const kube = { component: "kube-controller-manager", version: "1.21.3" };
const moves = configuration("moves", {
  route: "kube-controller-manager",
  service: "cloud-controller-manager",
  node: "*",
});

describe("where a controller belongs", () => {
  it.each([
    ["route", "migrated"],
    ["service", "unowned"],
    ["node", "migrated"],
    ["volume", "nonMigrated"],
    ["Route", "nonMigrated"],
    ["rout", "nonMigrated"],
  ])("[109] %s of the kube controller manager is %s", (controller, kind) => {
    expect(placementOf([moves], kube, controller).kind).toBe(kind);
    expect(placementOf([], kube, controller).kind).toBe("nonMigrated");
  });

  it.each([
    ["", "migrated"],
    [">=1.21.0 <1.22.0", "migrated"],
    [">=1.22.0", "unowned"],
  ])("counts the release: %j is %s for 1.21.3", (versionRange, kind) => {
    const controllerLeaders = [{ name: "route", component: "*", versionRange }];
    expect(placementOf([{ ...moves, controllerLeaders }], kube, "route").kind).toBe(kind);
  });

  it("is nowhere for who is not named, or has no version where one is asked for", () => {
    const controllerLeaders = [{ name: "route", component: "*", versionRange: ">=1.0.0" }];
    expect(placementOf([{ ...moves, controllerLeaders }], { ...kube, version: "" }, "route").kind).toBe("unowned");
    expect(placementOf([moves], { component: "", version: "1.0.0" }, "node").kind).toBe("unowned");
  });

  it("is found in any of several configurations", () => {
    const other = configuration("other", { volume: "*" });
    expect(placementOf([moves, other], kube, "volume")).toEqual({ kind: "migrated", configuration: other });
  });
});

describe("a digest", () => {
  it("is that of the meaning: form, order, version of the format and of the range do not count", () => {
    const yaml = `apiVersion: tenure.dev/v1\nkind: LeaderMigrationConfiguration\nleaderName: m\ncontrollerLeaders:\n- {name: b, component: *, versionRange: "<2.0.0   >=1.0.0"}\n- {name: a, component: x, versionRange: 1.2.3}\n`;
    const json = `{"controllerLeaders":[{"name":"a","component":"x","versionRange":"=1.2.3"},{"component":"*","name":"b","versionRange":">=1.0.0 <2.0.0"}],"leaderName":"m","kind":"LeaderMigrationConfiguration","apiVersion":"tenure.dev/v1"}`;
    const [left, right] = [yaml, json].map((text) => parseMigrationDocument(text).configuration);
    expect(left && digestOf(left)).toEqual(right && digestOf(right));
    expect(left && digestOf(left)).toHaveLength(32);
  });

  it.each([
    ["another lock", { ...moves, name: "other" }],
    ["another component", configuration("moves", { route: "*", service: "cloud-controller-manager", node: "*" })],
    ["one controller less", configuration("moves", { route: "kube-controller-manager", node: "*" })],
  ])("differs for %s", (_what, other) => {
    expect(digestOf(other)).not.toEqual(digestOf(moves));
  });

  it("of all configurations is empty for none, and one's own for one", () => {
    expect(digestOfAll([])).toHaveLength(0);
    expect(digestOfAll([moves])).toEqual(digestOf(moves));
    expect(digestOfAll([moves, defaultMigrationConfiguration])).toEqual(
      digestOfAll([defaultMigrationConfiguration, moves]),
    );
  });
});

it("[110] the default configuration is the proposal's", () => {
  const { controllerLeaders, name } = defaultMigrationConfiguration;
  expect(name).toBe("cloud-provider-extraction-migration");
  expect(controllerLeaders.map((leader) => `${leader.name} ${leader.component}`)).toEqual([
    "route *",
    "service *",
    "cloud-node-lifecycle *",
  ]);
});
