import { connectBus, inboxPrefixOf } from "@tenure/bus";
import { systemClock as clock, systemRandom as random } from "@tenure/kernel";
import { createSessionEngine } from "@tenure/session";
import { BenchClient, measurePairs, measureRenewals } from "./client.mjs";

/**
 * One session straight on the bus: `node bench/bus.mjs nats://127.0.0.1:4222 [seconds]`. NATS and at least one lease
 * store must run; they share the machine with this process.
 */
const [url = "nats://127.0.0.1:4222", seconds = "4"] = process.argv.slice(2);
const bus = await connectBus({
  servers: [url],
  name: "session bench",
  inboxPrefix: inboxPrefixOf("component"),
  clock,
  random,
  connectTimeoutMs: 10_000,
});
const parts = createSessionEngine({ bus, clock, random, instance: "bench", version: "0" });
await parts.routes.whenKnown();
const client = new BenchClient(`bench-${process.pid}`, (receive) => {
  const session = parts.engine.open({
    principal: "bench",
    send(message) {
      receive(message);
      return true;
    },
    end: (fault) => process.stderr.write(`ended: ${fault?.message}\n`),
  });
  const beat = setInterval(() => client.send({}), 1_000);
  beat.unref();
  return { send: (message) => session.receive(message) };
});
await measurePairs(client, 100, 1);
for (const lanes of [1, 100, 1_000]) await measurePairs(client, lanes, Number(seconds));
await measureRenewals(client, 10_000, Number(seconds));
await parts[Symbol.asyncDispose]();
await bus.drain();
