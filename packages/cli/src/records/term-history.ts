import { durationToMs, HoldOrigin, TermEndReason, type Transition, TransitionKind } from "@tenure/contracts";
import { wallMs, word } from "./words.ts";

/** One term as history tells it. */
export interface PastTerm {
  readonly holder: string;
  readonly token: bigint;
  readonly origin: string;
  /** Wall-clock ms; undefined when the beginning is older than history. */
  readonly fromMs: number | undefined;
  /** Wall-clock ms; undefined while it runs. */
  readonly toMs: number | undefined;
  readonly heldMs: number | undefined;
  /** Why it ended; empty while it runs. */
  readonly end: string;
  /** Who caused the end and why, where somebody did. */
  readonly note: string;
}

/** The terms of a lease, newest first, from the lines of its history, newest first. */
export function termsOf(lines: readonly Transition[]): readonly PastTerm[] {
  const terms = new Map<bigint, PastTerm>();
  for (const line of lines.toReversed()) {
    const known = terms.get(line.token);
    const atMs = wallMs(line.at);
    if (line.kind === TransitionKind.GRANTED) {
      terms.set(line.token, { ...blank(line), origin: word(HoldOrigin, line.origin), fromMs: atMs });
    } else if (line.kind === TransitionKind.ENDED && line.endReason !== TermEndReason.NOT_ACCEPTED) {
      terms.set(line.token, {
        ...(known ?? blank(line)),
        toMs: atMs,
        heldMs: line.heldFor === undefined ? undefined : durationToMs(line.heldFor),
        end: word(TermEndReason, line.endReason),
        note: noteOf(line) || (known?.note ?? ""),
      });
    } else if (line.kind === TransitionKind.END_OF_TERM_MARKED && known !== undefined) {
      terms.set(line.token, { ...known, note: noteOf(line) });
    }
  }
  return [...terms.values()].toReversed();
}

/** The lines, newest first, of the newest `most` terms: down to the oldest line of the oldest of them. */
export function linesOfNewest(lines: readonly Transition[], most: number): readonly Transition[] {
  const terms = termsOf(lines);
  if (terms.length <= most) return lines;
  const wanted = new Set(terms.slice(0, most).map(({ token }) => token));
  return lines.slice(0, lines.findLastIndex(({ token }) => wanted.has(token)) + 1);
}

function blank({ holder, token }: Transition): PastTerm {
  const nothing = { fromMs: undefined, toMs: undefined, heldMs: undefined };
  return { holder, token, origin: "", end: "", note: "", ...nothing };
}

function noteOf({ author, reason }: Transition): string {
  return reason === "" ? "" : `${reason}${author === "" ? "" : ` (${author})`}`;
}
