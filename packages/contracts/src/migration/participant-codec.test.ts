import { expect, it } from "vitest";
import { MigrationParticipant } from "../gen/tenure/v1/migration_record.ts";
import { reportFromWire, reportToWire } from "./participant-codec.ts";

it("a participant's report says what it runs, and is read back as the same participant", () => {
  const participant = {
    instance: "kube-1",
    release: { component: "kube", version: "1.21.0" },
    primary: "system/kube",
    controllers: [
      { name: "deployment", placement: "nonMigrated", lock: "system/kube" },
      { name: "route", placement: "migrated", lock: "system/moves" },
      { name: "node", placement: "unowned", lock: undefined },
    ],
    digests: new Map([["moves", "0aff"]]),
  } as const;
  const wire = reportToWire(participant, new Uint8Array([10, 255]), new Map([["route", 7n]]));
  expect(wire.participant).toEqual({
    component: "kube",
    version: "1.21.0",
    configurationDigest: new Uint8Array([10, 255]),
  });
  expect(wire.controllers.map(({ running, token }) => [running, token])).toEqual([
    [false, 0n],
    [true, 7n],
    [false, 0n],
  ]);
  expect(reportFromWire(MigrationParticipant.decode(MigrationParticipant.encode(wire).finish()))).toEqual(participant);
});
