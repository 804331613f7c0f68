import { type Grant, type Hold, HoldMode, type LeaseKey } from "@tenure/contracts";
import { TenureError } from "../errors.ts";
import type { Granted } from "../session/session.ts";
import type { TermTiming } from "../timing/term-timing.ts";
import type { HoldingMode } from "./term.ts";

/** Whether so much of a grant is left that its function may be started: its signal would not fire at once. */
export function isWorthHolding({ sentAtMs }: Granted, { usableTermMs, drainMs }: TermTiming, nowMs: number): boolean {
  return nowMs < sentAtMs + usableTermMs - drainMs;
}

/** What was granted, and of which lease. */
export function holdOf({ hold, lease }: Grant): { readonly hold: Hold; readonly lease: LeaseKey } {
  if (hold !== undefined && lease !== undefined) return { hold, lease };
  const message = "the service granted a lease without saying which";
  throw new TenureError({ code: "INTERNAL", reason: "MALFORMED_MESSAGE", message });
}

/** How it is held. */
export function modeOf({ mode }: Hold): HoldingMode {
  return modeNames[mode] ?? "exclusive";
}

const modeNames: Readonly<Record<number, HoldingMode>> = {
  [HoldMode.EXCLUSIVE]: "exclusive",
  [HoldMode.SHARED]: "shared",
  [HoldMode.COUNTED]: "counted",
};
