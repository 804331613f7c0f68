import type { CommandHeader } from "../partition/command.ts";
import type { Event, EventBody } from "../partition/event.ts";
import type { Reply } from "../partition/reply.ts";
import type { Waiter } from "../waiting/waiters.ts";

/** What core says to do: facts to append, and the answer that may leave once they are in the log. */
export interface Decision {
  readonly events: readonly Event[];
  readonly reply: Reply;
  /** A claim to put into the queue. */
  readonly waiter?: Waiter;
}

/** An empty list for all: mostly there is nothing to make one for. */
export const nothing: readonly never[] = Object.freeze([]);

/** A decision that changes nothing. */
export function answer(reply: Reply): Decision {
  return { events: nothing, reply };
}

/** A fact that a command caused. */
export function caused(command: CommandHeader, body: EventBody): Event {
  return withCause(body, command.principal, command.reason ?? "");
}

/** A fact that only time caused. */
export function timed(body: EventBody): Event {
  return withCause(body, "", "");
}

/** Every body is a fresh literal; writing into it costs a fraction of copying it, and this is on the hot path. */
function withCause(body: EventBody, author: string, reason: string): Event {
  const event: EventBody & { author?: string; reason?: string } = body;
  event.author = author;
  event.reason = reason;
  return event as Event;
}
