import type { Transition } from "@tenure/core";
import { HoldOrigin, TermEndReason } from "../../gen/tenure/v1/hold.ts";
import { holdOrigins, termEndReasons } from "./enums.ts";

/** How the term of a line of history began, and why it ended; at most one of them is set. */
export interface WireCause {
  readonly origin: HoldOrigin;
  readonly endReason: TermEndReason;
}

const origins: Readonly<Record<string, HoldOrigin>> = holdOrigins.toWire;
const endReasons: Readonly<Record<string, TermEndReason>> = termEndReasons.toWire;

/** Two words mean both: which one is meant follows from the line's kind. */
export function causeToWire({ cause, kind }: Pick<Transition, "cause" | "kind">): WireCause {
  const isGranted = kind === "granted";
  return {
    origin: (isGranted && cause !== undefined ? origins[cause] : undefined) ?? HoldOrigin.UNSPECIFIED,
    endReason: (isGranted || cause === undefined ? undefined : endReasons[cause]) ?? TermEndReason.UNSPECIFIED,
  };
}
