// One of several copies leads: node examples/leader.mjs NAME [host:port]. Start two, stop the one that leads.
import { fileURLToPath } from "node:url";
import { credentials, loadPackageDefinition } from "@grpc/grpc-js";
import { load } from "@grpc/proto-loader";

const [holder = "a", address = "127.0.0.1:8368"] = process.argv.slice(2);
const proto = fileURLToPath(new URL("../proto", import.meta.url));
const { tenure } = loadPackageDefinition(await load("tenure/v1/lease.proto", { includeDirs: [proto], longs: String }));
const client = new tenure.v1.LeaseService(address, credentials.createInsecure());
const call = (method, request) =>
  new Promise((resolve, reject) => {
    const deadline = Date.now() + 8000;
    client[method](request, { deadline }, (error, response) => (error ? reject(error) : resolve(response)));
  });

const lease = { namespace: "examples", name: "leader" };
const usableMs = 11_000; // H: counted from before the request is sent, and well below the lease's 15 s.
const clientId = `${holder}-${process.pid}-${Date.now()}`; // One attempt of one client is done once, however often it is sent.
let attempts = 0;
let token;
let stopping = false;
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);

while (!stopping) {
  try {
    const attempt = { clientId, number: ++attempts };
    const claim = { attempt, claims: [{ lease }], claimant: { holder }, wait: { timeout: { seconds: 4 } } };
    ({ token } = (await call("Acquire", claim)).grants[0].hold);
    if (stopping) await stop();
    console.log(`${holder} leads with token ${token}`);
    for (let untilMs = performance.now() + usableMs; performance.now() < untilMs; ) {
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const sentMs = performance.now();
      const { results } = await call("Renew", { renewals: [{ lease, token, sendNumber: 1 }] });
      if (results[0].failure) break;
      untilMs = sentMs + usableMs;
    }
    console.log(`${holder} leads no longer`);
  } catch (error) {
    if (stopping || error.code === 9) continue; // 9: somebody else holds it
    console.log(`${holder} tries again: ${error.message}`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function stop() {
  stopping = true;
  if (token !== undefined) await call("Release", { items: [{ lease, token }] });
  process.exit(0);
}
