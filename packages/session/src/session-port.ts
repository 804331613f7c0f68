import type { SessionServiceSessionRequest, SessionServiceSessionResponse } from "@tenure/contracts";
import type { Fault } from "@tenure/kernel";

/** The transport of one session, as the server's side sees it. */
export interface SessionPort {
  /** Who authenticated. */
  readonly principal: string;
  /** Takes one message for the client; `false` when no more should be sent until `onDrain`. */
  send(message: SessionServiceSessionResponse): boolean;
  /** The server ends the session: with a fault, or cleanly. Nothing is sent afterwards. */
  end(fault?: Fault): void;
}

/** One session, as its transport sees it. */
export interface OpenSession {
  /** A message of the client. A message that breaks the protocol ends the session. */
  receive(message: SessionServiceSessionRequest): void;
  /** The transport takes messages again. */
  onDrain(): void;
  /** The transport is gone, or the client has closed its side: all open calls are given up. */
  close(): void;
}
