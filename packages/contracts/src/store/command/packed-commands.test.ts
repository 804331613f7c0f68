import { clientKey, waiterId } from "@tenure/core";
import { describe, expect, it } from "vitest";
import { StoreServiceBeatRequest, StoreServiceRenewRequest } from "../../gen/tenure/store/v1/store.ts";
import { encodeRenewals } from "../../renewal-pack.ts";
import { brokenFields } from "../testing/owner-desk.ts";
import { packedRenewals, waitBeats } from "./packed-commands.ts";

describe("packed requests", () => {
  it("become one renewal for each group of each source", () => {
    const renewals = encodeRenewals([
      { partition: 3, sendNumber: 7, holdIds: [1, 2] },
      { partition: 3, sendNumber: 8, holdIds: [3] },
    ]);
    const renewKeyHash = new Uint8Array(32).fill(0xcd);
    const request = StoreServiceRenewRequest.create({
      sources: [
        { principal: "alice", renewals },
        { principal: "bob", renewKeyHash },
      ],
    });
    const nothing = new Uint8Array(0);
    expect(packedRenewals(request, 3)).toEqual([
      {
        packed: renewals,
        groups: [
          { principal: "alice", holdIds: [1, 2], sendNumber: 7n },
          { principal: "alice", holdIds: [3], sendNumber: 8n },
        ],
      },
      { packed: nothing, groups: [] },
    ]);
  });

  it("are refused whole if a group is malformed or of another partition", () => {
    const renewals = encodeRenewals([{ partition: 2, sendNumber: 7, holdIds: [1] }]);
    const request = StoreServiceRenewRequest.create({
      sources: [{ renewals }, { renewals: new Uint8Array([9]) }, { renewKeyHash: new Uint8Array(3) }],
    });
    expect(brokenFields(packedRenewals(request, 3))).toEqual([
      "sources[0].renewals",
      "sources[1].renewals",
      "sources[2].renew_key_hash",
    ]);
  });

  it("name waits as the owner's queue does", () => {
    const beats = [{ clientId: "c", principal: "alice", attemptNumber: 4n, sendNumber: 9n }];
    expect(waitBeats(StoreServiceBeatRequest.create({ beats }))).toEqual([
      { waiterId: waiterId(clientKey("alice", "c"), 4n), beatNumber: 9n },
    ]);
  });
});
