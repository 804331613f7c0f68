import type { MessageCodec } from "@tenure/bus";
import { Fault } from "@tenure/kernel";

/** The request of some bytes; INVALID_ARGUMENT with MALFORMED_MESSAGE when they are none. */
export function decodeRequest<Request>(codec: Pick<MessageCodec<Request>, "decode">, bytes: Uint8Array): Request {
  try {
    return codec.decode(bytes);
  } catch (cause) {
    throw new Fault({
      code: "INVALID_ARGUMENT",
      reason: "MALFORMED_MESSAGE",
      message: `the request of ${bytes.length} bytes is no message of this method`,
      details: { applied: "NO" },
      cause,
    });
  }
}
