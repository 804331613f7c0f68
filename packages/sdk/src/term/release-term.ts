import { TermEndReason } from "@tenure/contracts";
import { toTenureError } from "../errors.ts";
import type { ClientContext } from "../instance/client-context.ts";
import type { TermTiming } from "../timing/term-timing.ts";
import type { LeaseName } from "./lease-name.ts";
import type { TermEnd } from "./term-end.ts";

/** Longest note that the store takes, in bytes of ASCII; a longer one is cut. */
const longestNote = 512;

/**
 * Gives a term back. It never uses the caller's signal and never throws: what finds no answer within two request
 * timeouts is left to expire, because a process that stops must not wait for a store that is away.
 */
export async function releaseTerm(
  context: ClientContext,
  { lease, token }: { readonly lease: LeaseName; readonly token: bigint },
  end: TermEnd,
  timing: TermTiming,
): Promise<void> {
  try {
    await context.session.release([{ lease, token }], {
      timeoutMs: 2 * timing.requestTimeoutMs,
      endReason: endReasonOf(end),
      note: "note" in end ? end.note.slice(0, longestNote) : "",
    });
    context.emit?.({ kind: "term-released", lease, token });
  } catch (error) {
    context.emit?.({ kind: "release-failed", lease, token, error: toTenureError(error) });
  }
}

function endReasonOf(end: TermEnd): TermEndReason {
  if (end.kind === "end-of-term") return TermEndReason.PREEMPTED;
  if (end.kind === "released" && end.by === "step-down") return TermEndReason.STEPPED_DOWN;
  return TermEndReason.RELEASED;
}
