import type { GuardedValue as CoreGuardedValue } from "@tenure/core";
import type { GuardedValue } from "../../gen/tenure/v1/guard.ts";
import { timeOf } from "./wall-time.ts";

const noBytes = new Uint8Array(0);

/** A guarded value as the API shows it; without its bytes if only keys were asked for. */
export function guardedValueToWire(key: string, stored: CoreGuardedValue, isKeyOnly = false): GuardedValue {
  const { holder, revision, token, value } = stored;
  return {
    key,
    value: isKeyOnly ? noBytes : value,
    revision: revision.sequence,
    token,
    holder,
    writtenAt: timeOf(revision),
  };
}
