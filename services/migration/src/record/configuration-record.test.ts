import { describe, expect, it } from "vitest";
import { configuration, LogOfOne, namespace, reportOf } from "../testing/log-of-one.ts";
import { eligibilityOf } from "./configuration-record.ts";

const released = configuration("moves", {
  route: ["kube", "<1.22.0"],
  service: ["kube", "<1.22.0"],
  node: ["cloud", ">=1.22.0"],
});

describe("who may hold the lock of a configuration", () => {
  it("is every component with its versions, once", () => {
    expect(eligibilityOf(released).components).toEqual([
      { name: "kube", versionRange: "<1.22.0" },
      { name: "cloud", versionRange: ">=1.22.0" },
    ]);
  });

  it.each([
    ["kube 1.21.0", "granted", released],
    ["kube 1.22.0", "notEligible", released],
    ["cloud 1.22.0", "granted", released],
    ["cloud 1.21.0", "notEligible", released],
    ["other 1.22.0", "notEligible", released],
    ["kube 1.21.0", "configurationDisagrees", configuration("moves", { route: ["kube", "<1.22.0"] })],
  ] as const)("is decided where it is granted: the claim of %s is %s", (release, kind, own) => {
    const log = new LogOfOne();
    log.apply(released);
    expect(log.claim(`${namespace}/moves`, reportOf(release, ["route"], [own])).kind).toBe(kind);
  });

  it("changes with the next configuration; the term that runs goes on", () => {
    const log = new LogOfOne();
    const next = configuration("moves", { route: ["cloud", ""], service: ["cloud", ""], node: ["cloud", ""] });
    const [kube, cloud] = [reportOf("kube 1.21.0", ["route"], [released]), reportOf("cloud 1.22.0", ["route"], [next])];
    const lock = `${namespace}/moves`;
    log.apply(released);
    log.claim(lock, kube);
    log.apply(next);
    expect(log.directory.recordOf(lock)?.holds.map(({ holder }) => holder)).toEqual(["kube-1"]);
    log.release(lock);
    expect(log.claim(lock, kube).kind).toBe("configurationDisagrees");
    expect(log.claim(lock, cloud).kind).toBe("granted");
  });
});
