import { describe, expect, it } from "vitest";
import { configuration, LogOfOne, reportOf } from "../testing/log-of-one.ts";
import { participantAnnotations, participantLease, storedParticipant } from "./participant-record.ts";

const any = configuration("moves", { route: ["*", ""] });
const report = reportOf("kube 1.21.0", ["route", "deployment"], [any]);

describe("a participant's record", () => {
  it("keeps what was reported, and counts while the lease is held", () => {
    const log = new LogOfOne();
    log.join(report);
    const record = log.directory.recordOf(participantLease(report));
    expect(record && storedParticipant(record)?.participant).toMatchObject({
      instance: "kube-1",
      release: { component: "kube", version: "1.21.0" },
      controllers: [
        { name: "route", placement: "migrated", lock: "system/moves" },
        { name: "deployment", placement: "nonMigrated", lock: "system/kube" },
      ],
    });
    log.release(participantLease(report));
    expect(record && storedParticipant(record)).toBeUndefined();
  });

  it("is one for each primary lock of an instance", () => {
    const other = { ...report, primary: { namespace: "system", name: "other" } };
    expect(participantLease(other)).not.toBe(participantLease(report));
    expect(participantLease(reportOf("kube 1.22.0", []))).toBe(participantLease(report));
  });

  it("has a bound, which is told", () => {
    const names = Array.from({ length: 1_000 }, (_, place) => `c-${(place * 7_919) % 1_000_003}-${place ** 3}`);
    expect(() => participantAnnotations(reportOf("kube 1.21.0", names))).toThrow(
      /participant must fit into \d+ bytes when compressed \(got 1000 controllers\)/,
    );
  });
});
