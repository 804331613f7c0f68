import { describe, expect, it } from "vitest";
import { faultFromFailure } from "../../fault-codec.ts";
import { StoreServiceRenewRequest, StoreServiceRenewResponse } from "../../gen/tenure/store/v1/store.ts";
import { LeaseServiceAcquireRequest } from "../../gen/tenure/v1/lease.ts";
import { decodeRenewals, encodeRenewals } from "../../renewal-pack.ts";
import { packedRenewals } from "../command/packed-commands.ts";
import { acquireCommand } from "../command/term-commands.ts";
import { OwnerDesk, valueOfAnswer } from "../testing/owner-desk.ts";
import { beatResponse, storeRenewResponse } from "./packed-answers.ts";

/** An owner of whom alice holds two terms. */
function withTwoTerms() {
  const desk = new OwnerDesk();
  for (const name of ["a", "b"]) {
    const claims = [{ lease: { namespace: "billing", name } }];
    desk.run(acquireCommand(LeaseServiceAcquireRequest.create({ claims }), "alice"));
  }
  const [first = 0, second = 0] = [...desk.view.state.holds.keys()].toSorted((left, right) => left - right);
  return { desk, first, second };
}

describe("packed renewals over the wire", () => {
  it("acknowledge what was committed and refuse each of the others", () => {
    const { desk, first, second } = withTwoTerms();
    const mine = encodeRenewals([{ partition: 3, sendNumber: 7, holdIds: [1, first, second] }]);
    const stranger = encodeRenewals([{ partition: 3, sendNumber: 8, holdIds: [first] }]);
    const request = StoreServiceRenewRequest.create({
      sources: [
        { principal: "alice", renewals: mine },
        { principal: "eve", renewals: stranger },
      ],
    });
    const sources = valueOfAnswer(packedRenewals(request, 3));
    const results = desk.renew(sources.flatMap(({ groups }) => groups));
    const response = storeRenewResponse(3, sources, results, desk.sequence);
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

  it("are acknowledged as they came when all were made, each source by itself", () => {
    const { desk, first, second } = withTwoTerms();
    const both = encodeRenewals([
      { partition: 3, sendNumber: 7, holdIds: [first] },
      { partition: 3, sendNumber: 8, holdIds: [first, second] },
    ]);
    const partly = encodeRenewals([{ partition: 3, sendNumber: 9, holdIds: [second, second + 1] }]);
    const request = StoreServiceRenewRequest.create({
      sources: [
        { principal: "alice", renewals: both },
        { principal: "alice", renewals: new Uint8Array(0) },
        { principal: "alice", renewals: partly },
      ],
    });
    const sources = valueOfAnswer(packedRenewals(request, 3));
    const results = desk.renew(sources.flatMap(({ groups }) => groups));
    const { results: answers } = storeRenewResponse(3, sources, results, desk.sequence);
    expect(answers.map(({ acks }) => decodeRenewals(acks))).toEqual([
      decodeRenewals(both),
      [],
      [{ partition: 3, sendNumber: 9, holdIds: [second] }],
    ]);
    expect(answers.map(({ refusals }) => refusals.length)).toEqual([0, 0, 1]);
  });

  it("fit into one message of the bus when as many as a call may carry are refused", () => {
    const holdIds = Array.from({ length: 16_384 }, (_, index) => 900_000_000 + index * 1_000);
    const groups = [{ principal: "p".repeat(253), holdIds, sendNumber: 4_000_000_000n }];
    const refused = holdIds.map((holdId) => ({
      holdId,
      refusal: { kind: "termExpired", lease: "", token: 0n } as const,
    }));
    const results = [{ events: [], renewed: [], refused, ending: [], rest: [] }];
    const response = storeRenewResponse(63, [{ packed: new Uint8Array(0), groups }], results, 1n);
    expect(response.renewalRevision).toBe(0n);
    expect(StoreServiceRenewResponse.encode(response).finish().length).toBeLessThan(1_000_000);
    const faults = response.results[0]?.refusals.map(({ failure }) => failure && faultFromFailure(failure)) ?? [];
    expect(faults).toHaveLength(16_384);
    const [first] = faults;
    expect(first?.message).toContain("term");
    expect(faults.every((fault) => fault?.code === first?.code && fault?.reason === first?.reason)).toBe(true);
    expect(faults.every((fault) => fault?.details.applied === first?.details.applied)).toBe(true);
  });

  it("fit into one message of the bus when as many as a call may carry are asked to finish", () => {
    const holdIds = Array.from({ length: 16_384 }, (_, index) => 1_700_000_000_000_000 + index * 1_000);
    const groups = [{ principal: "p", holdIds, sendNumber: 4_000_000_000n }];
    const ending = holdIds.map((holdId) => ({ holdId, successor: "s".repeat(253) }));
    const results = [{ events: [], renewed: holdIds, refused: [], ending, rest: [] }];
    const response = storeRenewResponse(63, [{ packed: new Uint8Array(0), groups }], results, 1n);
    expect(StoreServiceRenewResponse.encode(response).finish().length).toBeLessThan(1_000_000);
    const endings = response.results[0]?.endings ?? [];
    expect(endings.map(({ holdId }) => Number(holdId))).toEqual(holdIds);
    expect(endings[0]?.successor).toBe("s".repeat(253));
    expect(endings.at(-1)?.successor).toBe("");
  });

  it("name the beats that found no wait by their places", () => {
    expect(beatResponse([true, false, true, false])).toEqual({ unknown: [1, 3] });
  });
});
