import { ReadOptions } from "@tenure/contracts";
import { concat, malformedRequest, wireField, withoutWireFields, withWireField } from "./wire-field.ts";

/** Where the requests of plain reads have their `ReadOptions`, by `<Service>.<Method>`. */
const readFields: ReadonlyMap<string, number> = new Map([
  ["LeaseService.Get", 2],
  ["LeaseService.List", 2],
  ["LeaseService.History", 2],
  ["GuardService.Get", 3],
  ["GuardService.List", 3],
  ["CandidateService.Get", 2],
  ["CandidateService.List", 2],
  ["IdentityService.Get", 2],
  ["IdentityService.List", 2],
  ["ElectionService.Get", 2],
  ["ElectionService.List", 2],
  ["ElectionService.Explain", 3],
  ["ElectionService.DryRun", 3],
  ["ElectionService.Rehearse", 4],
  ["MigrationService.Get", 3],
  ["MigrationService.List", 2],
  ["MigrationService.Status", 3],
]);
const minRevisionField = 2;

/**
 * The request with a floor under what it reads: a read of a client that has seen `minRevision` shows nothing older,
 * whichever server it asks (rule 7). A higher floor of its own stays, and any other request passes as it is.
 */
export function withFloor(method: string, request: Uint8Array, minRevision: bigint): Uint8Array {
  const field = minRevision === 0n ? undefined : readFields.get(method);
  if (field === undefined) return request;
  const read = wireField(request, field) ?? new Uint8Array(0);
  if (ownFloor(read) >= minRevision) return request;
  const floor = ReadOptions.encode(ReadOptions.fromPartial({ minRevision })).finish();
  return withWireField(request, field, concat([withoutWireFields(read, [minRevisionField]), floor]));
}

function ownFloor(read: Uint8Array): bigint {
  try {
    return ReadOptions.decode(read).minRevision;
  } catch (cause) {
    throw malformedRequest(cause);
  }
}
