import { fork } from "node:child_process";
import { createClient } from "@tenure/bus";
import { connect, EchoDefinition } from "./echo.mjs";

/**
 * Calls and streams per second between two processes: `node bench/run.mjs nats://127.0.0.1:4222 [seconds]`.
 * Start nats-server yourself; it shares the machine with both processes.
 */
const url = process.argv[2] ?? "nats://127.0.0.1:4222";
const seconds = Number(process.argv[3] ?? 4);
const server = fork(new URL("./server.mjs", import.meta.url), [url], { stdio: "inherit" });
await new Promise((resolve) => server.once("message", resolve));
const bus = await connect(url, "bench-client");
const client = createClient(bus, EchoDefinition);

async function measureCalls(inFlight, options) {
  const request = new Uint8Array(100);
  const took = [];
  let calls = 0;
  const endMs = performance.now() + seconds * 1000;
  const startMs = performance.now();
  const loop = async () => {
    while (performance.now() < endMs) {
      const sentMs = performance.now();
      await client.say(request, options);
      calls += 1;
      if (calls % 8 === 0) took.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  const rate = calls / ((performance.now() - startMs) / 1000);
  took.sort((left, right) => left - right);
  const at = (share) => (took[Math.floor(took.length * share)] ?? 0).toFixed(2);
  return `${Math.round(rate).toLocaleString("en")} calls/s  p50 ${at(0.5)} ms  p99 ${at(0.99)} ms`;
}

async function measureStream(count, size) {
  const request = Buffer.alloc(8);
  request.writeUInt32BE(count, 0);
  request.writeUInt32BE(size, 4);
  const startMs = performance.now();
  let items = 0;
  for await (const _item of client.count(request)) items += 1;
  return `${Math.round(items / ((performance.now() - startMs) / 1000)).toLocaleString("en")} items/s`;
}

const signal = new AbortController().signal;
const print = (name, result) => process.stdout.write(`${name.padEnd(44)} ${result}\n`);
await measureCalls(100);
for (const inFlight of [1, 64, 1000]) print(`unary 100 B, ${inFlight} in flight`, await measureCalls(inFlight));
print("unary 100 B, 1000 in flight, with a signal", await measureCalls(1000, { signal }));
print("stream of 1,000,000 items of 100 B", await measureStream(1_000_000, 100));
await bus.drain();
server.kill();
