import { describe, expect, it } from "vitest";
import { parseDelivery } from "./delivery.ts";

describe("parseDelivery", () => {
  const expected = { streamSequence: 1763270400000001n, deliverySequence: 7, pending: 42 };

  it.each([
    ["the form without a domain", "$JS.ACK.TENURE_LOG.tail.1.1763270400000001.7.1763270400000000000.42"],
    ["the form with a domain", "$JS.ACK._.hash.TENURE_LOG.tail.1.1763270400000001.7.1763270400000000000.42"],
    ["the form with a random end", "$JS.ACK.d.hash.TENURE_LOG.tail.1.1763270400000001.7.1763270400000000000.42.x9"],
  ])("reads %s", (_, reply) => {
    expect(parseDelivery(reply)).toEqual(expected);
  });

  it.each([undefined, "", "_INBOX.x", "$JS.ACK.S.c.1.2.3.4", "$JS.ACK.S.c.1.x.7.1.42", "$JS.ACK.S.c.1.5.7.1.4.2"])(
    "knows that %s is none",
    (reply) => {
      expect(parseDelivery(reply)).toBeUndefined();
    },
  );
});
