import { Client, credentials } from "@grpc/grpc-js";
import { SessionServiceSessionRequest, SessionServiceSessionResponse } from "@tenure/contracts";
import { BenchClient, measurePairs, measureRenewals } from "./client.mjs";

/** One session over gRPC: `node bench/grpc.mjs 127.0.0.1:8368 [seconds]`; a whole deployment must run. */
const [address = "127.0.0.1:8368", seconds = "4"] = process.argv.slice(2);
const grpc = new Client(address, credentials.createInsecure(), { "grpc.max_receive_message_length": 16 * 1024 * 1024 });
const client = new BenchClient(`bench-${process.pid}`, (receive) => {
  const stream = grpc.makeBidiStreamRequest(
    "/tenure.v1.SessionService/Session",
    (message) => Buffer.from(SessionServiceSessionRequest.encode(message).finish()),
    (bytes) => SessionServiceSessionResponse.decode(bytes),
  );
  stream.on("data", receive);
  stream.on("error", (error) => {
    throw error;
  });
  const beat = setInterval(() => client.send({}), 1_000);
  beat.unref();
  return { send: (message) => stream.write(message) };
});
await measurePairs(client, 100, 1);
for (const lanes of [1, 100, 1_000]) await measurePairs(client, lanes, Number(seconds));
await measureRenewals(client, 10_000, Number(seconds));
process.exit(0);
