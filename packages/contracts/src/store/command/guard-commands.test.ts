import { describe, expect, it } from "vitest";
import {
  GuardServiceDeleteRequest,
  GuardServicePutRequest,
  GuardServiceTransactRequest,
} from "../../gen/tenure/v1/guard.ts";
import { brokenFields } from "../testing/owner-desk.ts";
import { guardDeleteCommand, guardPutCommand, guardTransactCommand } from "./guard-commands.ts";

const lease = { namespace: "billing", name: "scheduler" };
const key = "billing/scheduler";

describe("a guarded write", () => {
  const fence = { lease, token: 5n };

  it("carries its fence, its changes and what must hold", () => {
    const put = GuardServicePutRequest.create({ fence, key: "a", value: new Uint8Array([1]), expectedRevision: 0n });
    expect(guardPutCommand(put, "alice")).toEqual({
      kind: "guard",
      lease: key,
      token: 5n,
      comparisons: [{ key: "a", revisionIs: 0n }],
      changes: [{ key: "a", value: new Uint8Array([1]) }],
      principal: "alice",
    });
    expect(guardDeleteCommand(GuardServiceDeleteRequest.create({ fence, key: "a" }), "alice")).toMatchObject({
      comparisons: [],
      changes: [{ key: "a", value: undefined }],
    });
    const transact = GuardServiceTransactRequest.create({
      fence,
      comparisons: [{ key: "a", condition: { $case: "valueIs", value: new Uint8Array([2]) } }],
      operations: [
        { operation: { $case: "put", value: { key: "b", value: new Uint8Array([3]) } } },
        { operation: { $case: "delete", value: "c" } },
      ],
    });
    expect(guardTransactCommand(transact, "alice")).toMatchObject({
      comparisons: [{ key: "a", valueIs: new Uint8Array([2]) }],
      changes: [
        { key: "b", value: new Uint8Array([3]) },
        { key: "c", value: undefined },
      ],
    });
  });

  it("names each key that is not legal and each part that is missing", () => {
    const request = GuardServiceTransactRequest.create({ comparisons: [{ key: "" }], operations: [{}] });
    expect(brokenFields(guardTransactCommand(request, "alice"))).toEqual([
      "comparisons[0].key",
      "comparisons[0]",
      "operations[0]",
      "fence",
    ]);
    expect(brokenFields(guardPutCommand(GuardServicePutRequest.create({ fence: {}, key: "!" }), "alice"))).toEqual([
      "key",
      "fence.lease",
    ]);
  });
});
