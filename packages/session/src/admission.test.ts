import { decodeRenewals, encodeRenewals, faultFromFailure, type PackedRefusal } from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { type Admission, AdmittedRenewals } from "./admission.ts";
import type { RenewalClient } from "./renewal-coalescer.ts";
import { type PackedGroup, packedGroups, packGroups } from "./renewal-groups.ts";

function setUp(verdictOf: (holdId: number) => ReturnType<Admission["refuseRenewal"]>) {
  const asked: string[] = [];
  const passed: ReturnType<typeof decodeRenewals>[] = [];
  const refusals: PackedRefusal[] = [];
  const client: RenewalClient = {
    principal: "ann",
    renewKeyHash: new Uint8Array(0),
    onRenewed: () => {},
    onRefused: (told) => void refusals.push(...told),
  };
  const renewals = new AdmittedRenewals(
    {
      queuedHolds: 3,
      renew: (_, groups: readonly PackedGroup[]) => void passed.push(decodeRenewals(packGroups(groups))),
    },
    {
      refuseRenewal(principal, partition, holdId) {
        asked.push(`${principal} ${partition}.${holdId}`);
        return verdictOf(holdId);
      },
    },
  );
  return {
    asked,
    passed,
    refusals,
    renew: (bytes: Uint8Array) => renewals.renew(client, packedGroups(bytes)),
    renewals,
  };
}

const group = (sendNumber: number, ...holdIds: number[]) => ({ partition: 2, sendNumber, holdIds });
const denied = new Fault({ code: "PERMISSION_DENIED", reason: "NOT_ALLOWED", message: "no" });

describe("admitted renewals", () => {
  it("pass as they came, and each hold is judged once", () => {
    const { asked, passed, refusals, renew, renewals } = setUp(() => undefined);
    renew(encodeRenewals([group(1, 5, 6)]));
    renew(encodeRenewals([group(2, 5, 6, 7)]));
    expect(passed).toEqual([[group(1, 5, 6)], [group(2, 5, 6, 7)]]);
    expect(asked).toEqual(["ann 2.5", "ann 2.6", "ann 2.7"]);
    expect([refusals, renewals.queuedHolds]).toEqual([[], 3]);
  });

  it("leave out those that are refused, each time, and pass the rest", () => {
    const { passed, refusals, renew } = setUp((holdId) => (holdId === 6 ? denied : undefined));
    renew(encodeRenewals([group(1, 5, 6, 7)]));
    renew(encodeRenewals([group(2, 6)]));
    expect(passed).toEqual([[group(1, 5, 7)]]);
    expect(refusals.map(({ holdId, partition, sendNumber }) => [partition, holdId, sendNumber])).toEqual([
      [2, 6n, 1n],
      [2, 6n, 2n],
    ]);
    expect(refusals.map(({ failure }) => failure && faultFromFailure(failure).code)).toEqual([
      denied.code,
      denied.code,
    ]);
  });

  it("are passed on while nobody knows whose they are, and judged when somebody does", () => {
    let verdict: ReturnType<Admission["refuseRenewal"]> = "unknown";
    const { passed, refusals, renew } = setUp(() => verdict);
    renew(encodeRenewals([group(1, 5)]));
    verdict = denied;
    renew(encodeRenewals([group(2, 5)]));
    expect([passed.length, refusals.length]).toEqual([1, 1]);
  });
});
