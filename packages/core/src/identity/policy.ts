import type { LeaseKey } from "../key.ts";
import type { TimingPolicy } from "../timing.ts";
import { isIdentityLease } from "./namespace.ts";

/** The policy that a lease's durations are checked by: an identity may be valid for longer than others may hold. */
export function policyFor(lease: LeaseKey, policy: TimingPolicy): TimingPolicy {
  if (!isIdentityLease(lease)) return policy;
  const { maximumIdentityValidityMs, maximumLeaseDurationMs } = policy;
  const longestMs = Math.max(maximumIdentityValidityMs, maximumLeaseDurationMs);
  return { ...policy, maximumLeaseDurationMs: longestMs };
}
