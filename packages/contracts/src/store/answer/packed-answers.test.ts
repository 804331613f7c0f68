import { describe, expect, it } from "vitest";
import { StoreServiceRenewRequest } from "../../gen/tenure/store/v1/store.ts";
import { LeaseServiceAcquireRequest } from "../../gen/tenure/v1/lease.ts";
import { decodeRenewals, encodeRenewals } from "../../renewal-pack.ts";
import { packedRenewals } from "../command/packed-commands.ts";
import { acquireCommand } from "../command/term-commands.ts";
import { OwnerDesk, valueOfAnswer } from "../testing/owner-desk.ts";
import { beatResponse, storeRenewResponse } from "./packed-answers.ts";

describe("packed renewals over the wire", () => {
  it("acknowledge what was committed and refuse each of the others", () => {
    const desk = new OwnerDesk();
    for (const name of ["a", "b"]) {
      const claims = [{ lease: { namespace: "billing", name } }];
      desk.run(acquireCommand(LeaseServiceAcquireRequest.create({ claims }), "alice"));
    }
    const [first = 0, second = 0] = [...desk.view.state.holds.keys()];
    const mine = encodeRenewals([{ partition: 3, sendNumber: 7, holdIds: [1, first, second] }]);
    const stranger = encodeRenewals([{ partition: 3, sendNumber: 8, holdIds: [first] }]);
    const request = StoreServiceRenewRequest.create({
      sources: [
        { principal: "alice", renewals: mine },
        { principal: "eve", renewals: stranger },
      ],
    });
    const sources = valueOfAnswer(packedRenewals(request, 3));
    const results = desk.renew(sources.flat());
    const renewed = sources.map((groups, place) =>
      groups.map((group) => ({ request: group, result: results[place]! })),
    );
    const response = storeRenewResponse(3, renewed, desk.sequence);
    expect(response.renewalRevision).toBe(desk.sequence);
    expect(decodeRenewals(response.results[0]?.acks ?? new Uint8Array(0))).toEqual([
      { partition: 3, sendNumber: 7, holdIds: [first, second] },
    ]);
    expect(response.results[0]?.refusals).toMatchObject([
      { holdId: 1n, partition: 3, sendNumber: 7n, failure: { detail: { reasonName: "TERM_EXPIRED" } } },
    ]);
    expect(response.results[1]).toMatchObject({
      acks: new Uint8Array(0),
      refusals: [{ failure: { detail: { reasonName: "PRINCIPAL_MISMATCH" } } }],
      endings: [],
    });
  });

  it("name the beats that found no wait by their places", () => {
    expect(beatResponse([true, false, true, false])).toEqual({ unknown: [1, 3] });
  });
});
