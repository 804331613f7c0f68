import type { TraceContext } from "@tenure/bus";
import type { Fault } from "@tenure/kernel";
import type { OpenWait } from "./open-wait.ts";

/** What a caller says about one call. */
export interface StoreCallOptions {
  readonly principal: string;
  /** How long the caller waits, in milliseconds. */
  readonly deadlineMs: number;
  readonly trace?: TraceContext | undefined;
}

/** How a call ended: with its encoded response, or with a fault. */
export type Outcome = Uint8Array | Fault;

/** A call that is under way. */
export interface OpenCall {
  /** Present when it is a claim that waits: who passes beats on uses it. */
  readonly wait?: OpenWait | undefined;
  /** Gives the call up: its outcome is not told, and a wait leaves its queue. */
  cancel(): void;
}
