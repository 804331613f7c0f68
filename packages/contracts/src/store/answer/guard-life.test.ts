import { describe, expect, it } from "vitest";
import {
  GuardServiceDeleteRequest,
  GuardServiceListRequest,
  GuardServicePutRequest,
  GuardServiceTransactRequest,
} from "../../gen/tenure/v1/guard.ts";
import { LeaseServiceAcquireRequest } from "../../gen/tenure/v1/lease.ts";
import { guardDeleteCommand, guardPutCommand, guardTransactCommand } from "../command/guard-commands.ts";
import { acquireCommand } from "../command/term-commands.ts";
import { faultOfAnswer, OwnerDesk, valueOfAnswer } from "../testing/owner-desk.ts";
import { guardGetResponse, guardListResponse } from "./read-answers.ts";
import { guardDeleteResponse, guardWriteResponse } from "./record-answers.ts";

const lease = { namespace: "billing", name: "scheduler" };
const key = "billing/scheduler";
const fence = { lease, token: 1_004n };

function heldDesk(): OwnerDesk {
  const desk = new OwnerDesk();
  desk.run(acquireCommand(LeaseServiceAcquireRequest.create({ claims: [{ lease }] }), "alice"));
  return desk;
}

function put(desk: OwnerDesk, name: string, more: object = {}) {
  const request = GuardServicePutRequest.create({ fence, key: name, value: new Uint8Array([1]), ...more });
  return guardWriteResponse(desk.run(guardPutCommand(request, "alice")));
}

describe("guarded values over the wire", () => {
  it("are written, read with who wrote them, and deleted", () => {
    const desk = heldDesk();
    expect(put(desk, "cursor")).toEqual({ revision: desk.sequence });
    expect(guardGetResponse(key, "cursor", desk.view)).toEqual({
      value: {
        key: "cursor",
        value: new Uint8Array([1]),
        revision: desk.sequence,
        token: 1_004n,
        holder: "alice",
        writtenAt: { seconds: 1_700_000_000n, nanos: 0 },
      },
      revision: desk.sequence,
    });
    const request = GuardServiceDeleteRequest.create({ fence, key: "cursor" });
    const remove = () => guardDeleteResponse(desk.run(guardDeleteCommand(request, "alice")));
    expect(remove()).toEqual({ deleted: true, revision: desk.sequence });
    expect(remove()).toEqual({ deleted: false, revision: 0n });
    expect(faultOfAnswer(guardGetResponse(key, "cursor", desk.view)).reason).toBe("GUARDED_KEY_NOT_FOUND");
    expect(faultOfAnswer(guardGetResponse("billing/none", "cursor", desk.view)).reason).toBe("LEASE_NOT_FOUND");
  });

  it("are refused to a past token, and unless what was expected holds", () => {
    const desk = heldDesk();
    expect(faultOfAnswer(put(desk, "a", { fence: { lease, token: 5n } })).reason).toBe("FENCED");
    const request = GuardServiceTransactRequest.create({
      fence,
      comparisons: [{ key: "a", condition: { $case: "revisionIs", value: 9n } }],
      operations: [{ operation: { $case: "delete", value: "a" } }],
    });
    const fault = faultOfAnswer(guardWriteResponse(desk.run(guardTransactCommand(request, "alice"))));
    expect(fault).toMatchObject({ code: "ABORTED", reason: "COMPARISON_FAILED" });
  });

  it("are listed in order of key, by prefix and in pages", () => {
    const desk = heldDesk();
    for (const name of ["b/2", "a", "b/3", "b/1"]) put(desk, name);
    const list = (token: string) => {
      const request = GuardServiceListRequest.create({
        lease,
        keyPrefix: "b/",
        keysOnly: true,
        page: { size: 2, token },
      });
      return valueOfAnswer(guardListResponse(key, request, desk.view));
    };
    const first = list("");
    expect(first.values.map((value) => [value.key, value.value.length])).toEqual([
      ["b/1", 0],
      ["b/2", 0],
    ]);
    const second = list(first.page?.nextToken ?? "");
    expect(second.values.map((value) => value.key)).toEqual(["b/3"]);
    expect(second.page?.nextToken).toBe("");
  });
});
