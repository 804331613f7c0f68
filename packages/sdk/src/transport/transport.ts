import type { LeaseKey, SessionServiceSessionRequest, SessionServiceSessionResponse } from "@tenure/contracts";
import type { TenureError } from "../errors.ts";

/** One open stream to the service. */
export interface TransportStream {
  /** Hands over a message. False: the way is full; send no more before `onWritable`. What was handed over is sent. */
  send(message: SessionServiceSessionRequest): boolean;
  /** Ends it, cleanly if the way allows; `onClosed` is not called any more. Idempotent. */
  close(): void;
}

/** What a stream tells. Never called from within `open`. */
export interface TransportListener {
  onMessage(message: SessionServiceSessionResponse): void;
  /** There is room again after `send` said that there was none. */
  onWritable(): void;
  /** The stream is over, or never came about. Told once, and nothing after it. */
  onClosed(why: TenureError): void;
}

/** A term of the client, as its holder knows it. */
export interface OwnTerm {
  readonly lease: LeaseKey;
  readonly token: bigint;
}

/** A way to the service: gRPC, or the bus itself. */
export interface Transport extends AsyncDisposable {
  /** Where it leads, for messages to people; no secrets. */
  readonly address: string;
  /** Opens a stream. After a failure the next call tries the next endpoint, if there are several. */
  open(listener: TransportListener): TransportStream;
  /** Tells a transport that must know them which terms the client renews. */
  useTerms?(find: (partition: number, holdId: number) => OwnTerm | undefined): void;
}
