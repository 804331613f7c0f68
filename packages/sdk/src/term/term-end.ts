import type { TenureError } from "../errors.ts";

/**
 * Why a term ends. What it means for the holder differs: `released`, `stopped` and `end-of-term` are asked for and leave
 * time to finish; `unreachable` and `expired` leave what the holder's own clock still allows; `preempted` may leave none.
 */
export type TermEnd =
  /** The holder is done: its function returned, its block was left, or it stepped down. */
  | { readonly kind: "released"; readonly by: "return" | "step-down"; readonly note: string }
  /** The caller's own signal was aborted or the client was closed. */
  | { readonly kind: "stopped"; readonly cause?: unknown }
  /** Another is to follow; the holder is asked to finish. */
  | { readonly kind: "end-of-term"; readonly successor: string; readonly note: string }
  /** Renewals failed until the holder's clock was about to run out. */
  | { readonly kind: "unreachable"; readonly cause: TenureError }
  /** The term ran out without a failed renewal: the process was paused, suspended or too busy, or the store says so. */
  | { readonly kind: "expired"; readonly note: string }
  /** The term was taken from its holder. */
  | { readonly kind: "preempted"; readonly how: Preemption; readonly note: string };

/** How a term was taken: by an operator's revocation, by force, or by a newer term of another holder. */
export type Preemption = "revoked" | "stolen" | "fenced";

/** The end of a term whose function returned by itself. */
export const returned: TermEnd = Object.freeze({ kind: "released", by: "return", note: "" });

/** Whether the holder or its caller asked for the end, as opposed to losing the term. */
export function isOnRequest(end: TermEnd): boolean {
  return end.kind === "released" || end.kind === "stopped";
}

/** The end in plain words, to follow "the term ended: ". */
export function describeEnd(end: TermEnd): string {
  switch (end.kind) {
    case "released":
      return `${end.by === "return" ? "it was released" : "its holder stepped down"}${withNote(end.note)}`;
    case "stopped":
      return "it was stopped on request";
    case "end-of-term": {
      const follower = end.successor === "" ? "another" : end.successor;
      return `it is asked to end so that ${follower} may follow${withNote(end.note)}`;
    }
    case "unreachable":
      return `renewals failed for too long, at last with: ${end.cause.message}`;
    case "expired":
      return `it ran out${withNote(end.note)}`;
    case "preempted":
      return `it was ${end.how}${withNote(end.note)}`;
  }
}

function withNote(note: string): string {
  return note === "" ? "" : ` (${note})`;
}
