import { type CommandOf, type GuardComparison as CoreComparison, checkGuardedKey } from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import type { Attempt } from "../../gen/tenure/v1/attempt.ts";
import type {
  Fence,
  GuardComparison,
  GuardOperation,
  GuardServiceDeleteRequest,
  GuardServicePutRequest,
  GuardServiceTransactRequest,
} from "../../gen/tenure/v1/guard.ts";
import { Reading } from "../reading.ts";
import { ownBytes } from "../value/text.ts";
import { renewKeyHashOf } from "./claimant.ts";
import { addHeader, type Draft } from "./header.ts";
import { requestLease } from "./request-key.ts";

type Guard = CommandOf<"guard">;
type Change = Guard["changes"][number];

/** GuardService.Put as a command. */
export function guardPutCommand(request: GuardServicePutRequest, principal: string): Guard | Fault {
  const reading = new Reading();
  const { expectedRevision, key, value } = request;
  reading.rejectAll(checkGuardedKey(key));
  const changes = [{ key, value: ownBytes(value) }];
  return guardCommand(reading, request, principal, comparisonsOf(key, expectedRevision), changes);
}

/** GuardService.Delete as a command. */
export function guardDeleteCommand(request: GuardServiceDeleteRequest, principal: string): Guard | Fault {
  const reading = new Reading();
  const { expectedRevision, key } = request;
  reading.rejectAll(checkGuardedKey(key));
  const changes = [{ key, value: undefined }];
  return guardCommand(reading, request, principal, comparisonsOf(key, expectedRevision), changes);
}

/** GuardService.Transact as a command. */
export function guardTransactCommand(request: GuardServiceTransactRequest, principal: string): Guard | Fault {
  const reading = new Reading();
  const comparisons = request.comparisons.map((comparison, place) => readComparison(reading, comparison, place));
  const changes = request.operations.map((operation, place) => readOperation(reading, operation, place));
  return guardCommand(reading, request, principal, comparisons, changes);
}

function comparisonsOf(key: string, expectedRevision: bigint | undefined): readonly CoreComparison[] {
  return expectedRevision === undefined ? [] : [{ key, revisionIs: expectedRevision }];
}

function guardCommand(
  reading: Reading,
  request: { readonly attempt: Attempt | undefined; readonly fence: Fence | undefined },
  principal: string,
  comparisons: readonly CoreComparison[],
  changes: readonly Change[],
): Guard | Fault {
  const { fence } = request;
  if (fence === undefined) reading.reject("fence", "is required", "absent");
  const command: Draft<Guard> = {
    kind: "guard",
    lease: fence === undefined ? "/" : requestLease(reading, "fence.lease", fence.lease),
    token: fence?.token ?? 0n,
    comparisons,
    changes,
    principal,
  };
  const renewKeyHash = fence && renewKeyHashOf(fence.renewKey);
  if (renewKeyHash !== undefined) command.renewKeyHash = renewKeyHash;
  addHeader(reading, command, request);
  return reading.refusal() ?? command;
}

function readComparison(reading: Reading, { condition, key }: GuardComparison, place: number): CoreComparison {
  reading.rejectAll(checkGuardedKey(key, `comparisons[${place}].key`));
  switch (condition?.$case) {
    case "revisionIs":
      return { key, revisionIs: condition.value };
    case "valueIs":
      return { key, valueIs: condition.value };
    default:
      reading.reject(`comparisons[${place}]`, "must have revision_is or value_is", "neither");
      return { key, revisionIs: 0n };
  }
}

function readOperation(reading: Reading, { operation }: GuardOperation, place: number): Change {
  const field = `operations[${place}]`;
  switch (operation?.$case) {
    case "put": {
      const { key, value } = operation.value;
      reading.rejectAll(checkGuardedKey(key, `${field}.put.key`));
      return { key, value: ownBytes(value) };
    }
    case "delete":
      reading.rejectAll(checkGuardedKey(operation.value, `${field}.delete`));
      return { key: operation.value, value: undefined };
    default:
      reading.reject(field, "must have put or delete", "neither");
      return { key: "", value: undefined };
  }
}
