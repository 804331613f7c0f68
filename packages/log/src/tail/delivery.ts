/** What JetStream says about a message that it delivers to a consumer. */
export interface Delivery {
  /** Position in the stream. */
  readonly streamSequence: bigint;
  /** Number of the delivery within the consumer, from 1 and without holes. */
  readonly deliverySequence: number;
  /** How many messages the consumer had left to deliver after this one. */
  readonly pending: number;
}

/** Tokens of `$JS.ACK.<stream>.<consumer>.<count>.<stream seq>.<delivery seq>.<time>.<pending>`, the older form. */
const oldTokens = 9;

/** The newer form has a domain and an account hash after `$JS.ACK`, and may have more at its end. */
const newTokens = 11;

/** Reads the reply subject of a delivered message; undefined when it is none. */
export function parseDelivery(reply: string | undefined): Delivery | undefined {
  if (reply === undefined || !reply.startsWith("$JS.ACK.")) return undefined;
  const tokens = reply.split(".");
  if (tokens.length !== oldTokens && tokens.length < newTokens) return undefined;
  const first = tokens.length === oldTokens ? 5 : 7;
  const [stream, delivery, , pending] = tokens.slice(first, first + 4);
  if (!isNumber(stream) || !isNumber(delivery) || !isNumber(pending)) return undefined;
  return { streamSequence: BigInt(stream), deliverySequence: Number(delivery), pending: Number(pending) };
}

function isNumber(token: string | undefined): token is string {
  return token !== undefined && /^\d+$/.test(token);
}
