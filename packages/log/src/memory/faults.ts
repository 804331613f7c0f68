import type { Random } from "@tenure/kernel";
import type { AppendRefusal } from "../js-errors.ts";

/** What becomes of one append on its way. */
export type AppendFault =
  /** It arrives after `requestMs` and its answer after `replyMs` more. A request later than its timeout is a ghost. */
  | { readonly kind: "delayed"; readonly requestMs: number; readonly replyMs: number }
  /** It never arrives; its sender learns nothing. */
  | { readonly kind: "lostRequest" }
  /** It is applied, or refused, after `requestMs`; its sender learns nothing. */
  | { readonly kind: "lostReply"; readonly requestMs: number }
  /** The server refuses it without having looked. */
  | { readonly kind: "refused"; readonly refusal: Exclude<AppendRefusal, "Ambiguous" | "Conflict"> };

/** What becomes of one read: answered after a while, answered by a deposed leader who knows nothing, or not at all. */
export type ReadFault =
  | { readonly kind: "delayed"; readonly replyMs: number }
  | { readonly kind: "stale" }
  | { readonly kind: "unanswered" };

/** Whose message it is and where it goes. */
export interface Traffic {
  /** The name that the client connected with. */
  readonly client: string;
  readonly partition: number;
}

/** What goes wrong, asked for each message. Whatever is left out goes right and at once. */
export interface MemoryFaults {
  readonly onAppend?: (append: Traffic & { readonly prev: bigint; readonly timeoutMs: number }) => AppendFault;
  readonly onRead?: (read: Traffic) => ReadFault;
  /** How long a message takes from the log to a tail; order is kept all the same. */
  readonly deliveryMs?: (delivery: Traffic & { readonly sequence: bigint }) => number;
}

/** An append that is applied `lateMs` after its sender has stopped waiting. */
export function ghost(timeoutMs: number, lateMs: number): AppendFault {
  return { kind: "delayed", requestMs: timeoutMs + lateMs, replyMs: 0 };
}

/** How often things go wrong, each from 0 to 1. */
export interface FaultRates {
  readonly ghosts: number;
  readonly lostRequests: number;
  readonly lostReplies: number;
  readonly refusals: number;
  readonly staleReads: number;
  /** The longest delay of what goes right. */
  readonly mostDelayMs: number;
}

/** Faults by chance, at the given rates; with a seeded `Random` the same every time. */
export function randomFaults(random: Random, rates: FaultRates): MemoryFaults {
  const delayMs = (): number => Math.floor(random.next() * rates.mostDelayMs);
  const refusals = ["Busy", "Unavailable", "Full"] as const;
  return {
    onAppend: ({ timeoutMs }) => {
      const dice = random.next();
      const { ghosts, lostReplies, lostRequests } = rates;
      if (dice < ghosts) return ghost(timeoutMs, 1 + delayMs());
      if (dice < ghosts + lostRequests) return { kind: "lostRequest" };
      if (dice < ghosts + lostRequests + lostReplies) return { kind: "lostReply", requestMs: delayMs() };
      if (dice < ghosts + lostRequests + lostReplies + rates.refusals) {
        return { kind: "refused", refusal: refusals[Math.floor(random.next() * refusals.length)] ?? "Busy" };
      }
      return { kind: "delayed", requestMs: delayMs(), replyMs: delayMs() };
    },
    onRead: () => (random.next() < rates.staleReads ? { kind: "stale" } : { kind: "delayed", replyMs: delayMs() }),
    deliveryMs: delayMs,
  };
}
