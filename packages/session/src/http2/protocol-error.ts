/** Those of HTTP/2's error codes that are sent. */
export const ErrorCode = {
  none: 0,
  protocol: 1,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  calm: 11,
} as const;

/** The peer does not keep to HTTP/2: the connection is over. */
export class ProtocolError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The error of a frame that may not come where it came. */
export function unexpected(type: number): ProtocolError {
  return new ProtocolError(ErrorCode.protocol, `it sent a frame of type ${type} that HTTP/2 does not allow here`);
}
