// One of several copies leads: node examples/leader.mjs NAME [host:port]. Start two, stop the one that leads.
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { credentials, loadPackageDefinition } from "@grpc/grpc-js";
import { load } from "@grpc/proto-loader";

const [holder = "a", address = "127.0.0.1:8368"] = process.argv.slice(2);
const proto = fileURLToPath(new URL("../proto", import.meta.url));
const { tenure } = loadPackageDefinition(await load("tenure/v1/lease.proto", { includeDirs: [proto], longs: String }));
const client = new tenure.v1.LeaseService(address, credentials.createInsecure());
const call = (method, request, timeoutMs) =>
  new Promise((resolve, reject) => {
    const deadline = Date.now() + timeoutMs; // grpc-js takes an instant; no decision below reads the wall clock.
    client[method](request, { deadline }, (error, response) => (error ? reject(error) : resolve(response)));
  });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const lease = { namespace: "examples", name: "leader" };
const usableMs = 11_000; // H: counted from before a request was sent, never from its answer; below the lease's 15 s.
const clientId = randomUUID(); // One attempt of one client is done once, however often it is sent.
let attempts = 0;
let token;
let stopping = false;
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);

while (!stopping) {
  try {
    const attempt = { clientId, number: ++attempts };
    const claim = { attempt, claims: [{ lease }], claimant: { holder }, wait: { timeout: { seconds: 4 } } };
    let untilMs = performance.now() + usableMs;
    ({ token } = (await call("Acquire", claim, 8000)).grants[0].hold);
    if (stopping) await stop();
    console.log(`${holder} leads with token ${token}`);
    while (performance.now() < untilMs) {
      await pause(Math.min(2000, untilMs - performance.now()));
      const sentMs = performance.now();
      // A renewal that is not answered proves nothing: the deadline stands, and the next one is tried.
      const request = { renewals: [{ lease, token, sendNumber: 1 }] };
      const answer = await call("Renew", request, Math.min(2000, untilMs - sentMs)).catch(() => undefined);
      if (answer?.results[0].failure) break;
      if (answer !== undefined) untilMs = sentMs + usableMs;
    }
    console.log(`${holder} leads no longer`);
  } catch (error) {
    if (stopping || error.code === 9) continue; // 9: somebody else holds it
    console.log(`${holder} tries again: ${error.message}`);
    await pause(1000);
  }
}

async function stop() {
  stopping = true;
  if (token !== undefined) await call("Release", { items: [{ lease, token }] }, 2000).catch(() => undefined);
  process.exit(0);
}
