import type { CallContext } from "@tenure/bus";
import {
  type IdentityServiceDeregisterRequest,
  type IdentityServiceDeregisterResponse,
  leaseKeyToWire,
} from "@tenure/contracts";
import { leaseKey } from "@tenure/core";
import { catchUpMs, type IdentityContext } from "./identity-context.ts";

/**
 * Removes an instance. Its own release is the departure: once that is in the log the instance is gone for everyone. What
 * depends on it and its record follow at once; should this process die before, the collector finishes it.
 */
export async function deregister(
  context: IdentityContext,
  { id, note, renewKey, token }: IdentityServiceDeregisterRequest,
  scope: CallContext,
): Promise<IdentityServiceDeregisterResponse> {
  const asking = { principal: scope.principal, deadlineMs: scope.remainingMs(), signal: scope.signal };
  const items = [{ lease: leaseKeyToWire(leaseKey(context.directory.namespace, id)), token }];
  const reason = note?.reason ?? "";
  const released = await context.store.release(
    { items, renewKey, ...(reason === "" ? {} : { note: { reason } }) },
    asking,
  );
  if (released.released[0] !== true) return { removed: false, revision: 0n };
  try {
    await context.reader.hub.reach(released.revision, Math.min(catchUpMs, scope.remainingMs()), scope.signal);
    await context.departures.finish(id, reason === "" ? "left" : `left: ${reason}`, {
      ...asking,
      deadlineMs: scope.remainingMs(),
    });
  } catch (err) {
    context.onNote({ id, err }, "a departure is left to the collector");
  }
  return { removed: true, revision: released.revision };
}
