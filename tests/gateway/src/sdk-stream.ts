import { connect } from "node:net";
import { decodeStatusDetails } from "@tenure/contracts";
import type { Fault } from "@tenure/kernel";
import { clientOpening, type Headers, StreamConnection } from "@tenure/session/http2";

/** Opens a connection of one stream, as the SDK does, says one thing on it, and gives the fault that ends it. */
export function sdkStream(address: string, path: string, message: Buffer): Promise<Fault> {
  const [host = "", port = ""] = address.split(":");
  const opening = clientOpening({ ":method": "POST", ":scheme": "http", ":authority": address, ":path": path });
  return new Promise((resolve, reject) => {
    let last: Headers = {};
    const connection = new StreamConnection(connect(Number(port), host), opening, 1_000, {
      onHeaders: (headers) => {
        last = headers;
      },
      onMessage: () => {},
      onUnreadable: reject,
      onWritable: () => {},
      onEnd: () => connection.destroy(),
      onClosed: (failure) => {
        if (failure !== undefined) reject(failure);
        else resolve(decodeStatusDetails(Buffer.from(last["grpc-status-details-bin"] ?? "", "base64")));
      },
    });
    connection.send(message);
  });
}
