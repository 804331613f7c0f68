/** Who takes the answer to a call together with others, and which of its calls it is. */
export interface PackedReply {
  /** What begins the reply subjects of the caller, up to its last dot. */
  readonly caller: string;
  readonly number: number;
}

/** Where a call is answered: alone under a subject, or in one message with the caller's others. */
export type Reply = string | PackedReply;

/** The reply subject, which also names the call. */
export function subjectOf(reply: Reply): string {
  return typeof reply === "string" ? reply : reply.caller + reply.number;
}

/** What begins a reply subject, up to its last dot. */
export function callerOf(subject: string): string {
  return subject.slice(0, subject.lastIndexOf(".") + 1);
}
