import { describe, expect, it } from "vitest";
import { participantLease } from "../record/participant-record.ts";
import { configuration, LogOfOne, namespace, reportOf } from "../testing/log-of-one.ts";

const any = configuration("moves", { route: ["*", ""] });
const off = reportOf("kube 1.21.0", ["route"]);
const on = reportOf("cloud 1.22.0", ["route"], [any]);

describe("the directory", () => {
  it("raises an alarm for as long as participants disagree, and says since when", async () => {
    const log = new LogOfOne();
    log.join(on);
    log.apply(any);
    expect(log.takeNews()).toEqual([]);
    await log.clock.advance(1_000);
    log.join(off);
    expect(log.takeNews()).toEqual(["disagreement route began"]);
    const [alarm] = log.directory.stateOf(namespace).alarms;
    expect(alarm && log.directory.alarmedSinceMs(namespace, alarm)).toBe(log.clock.wall());
    log.release(participantLease(off));
    expect(log.takeNews()).toEqual(["disagreement route ended"]);
  });

  it("raises an alarm while nobody can run a controller that is in force", () => {
    const log = new LogOfOne();
    log.apply(any);
    expect(log.takeNews()).toEqual(["orphaned route began"]);
    log.join(on);
    expect(log.takeNews()).toEqual(["orphaned route ended"]);
  });

  it("warns of a third migration lock, not of a second", () => {
    const log = new LogOfOne();
    const locks = ["a", "b", "c"].map((name) => configuration(name, { [name]: ["*", ""] }));
    log.join(reportOf("kube 1.21.0", ["a", "b"], locks.slice(0, 2)));
    expect(log.takeNews()).toEqual([]);
    log.join(reportOf("cloud 1.22.0", ["a", "b", "c"], locks));
    expect(log.takeNews()).toContain("tooManyLocks  began");
  });

  it("knows who runs a controller and who has left, also after changes were missed", () => {
    const log = new LogOfOne();
    const { directory } = log;
    log.join(on);
    log.join(off);
    log.claim(`${namespace}/controller:route`, on);
    log.release(participantLease(off));
    const seen = () => ({
      runners: [...directory.stateOf(namespace).view.runners],
      participants: directory.stateOf(namespace).participants.map(({ wire }) => wire.instance),
      vacated: directory.vacated.map(({ key }) => key),
    });
    const expected = {
      runners: [["route", "cloud-1"]],
      participants: ["cloud-1"],
      vacated: [participantLease(off)],
    };
    expect(seen()).toEqual(expected);
    directory.onGap();
    expect(seen()).toEqual(expected);
  });
});
