// One of several copies leads and counts: node examples/controller.mjs NAME [host:port] [lease duration]. Start three,
// then stop, kill or pause the one that leads.
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "@tenure/sdk";

const [identity = "a", endpoint = "127.0.0.1:8368", leaseDuration = "15s"] = process.argv.slice(2);
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());

const tenure = await connect({ endpoint, identity, timing: { leaseDuration } });

await tenure.lead("examples/controller", { signal: stop.signal }, async (term) => {
  console.log(`${identity} leads with token ${term.token}`);
  term.signal.onabort = () => console.log(`${identity} leads no longer: ${term.signal.reason.message}`);
  const before = await term.guard.get("count");
  let count = Number(before?.text ?? 0);
  while (!term.signal.aborted) {
    count += 1;
    // Accepted only while no newer term was granted, however late it arrives.
    await term.guard.put("count", String(count));
    await pause(100, undefined, { signal: term.signal }).catch(() => {});
  }
});

await tenure.close();
