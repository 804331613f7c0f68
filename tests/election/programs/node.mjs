// One node of a fleet: stands for a lease in its own way, and says on standard output when it leads and when it stops,
// with the machine's monotonic clock, which all processes share. SIGTERM ends it as an upgrade does.
import { connect } from "@tenure/sdk";

const [name, endpoint, lease, options] = process.argv.slice(2);
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

const say = (event, token) =>
  process.stdout.write(`${JSON.stringify({ event, token: String(token), atNs: String(process.hrtime.bigint()) })}\n`);

const tenure = await connect({
  endpoint,
  identity: name,
  timing: { leaseDuration: "5s" },
  renewal: "inline",
  connectTimeout: "60s",
  callTimeout: "20s",
});
say("up", 0);
await tenure.lead(lease, { signal: stop.signal, ...JSON.parse(options) }, async (term) => {
  say("leads", term.token);
  await new Promise((resolve) => {
    if (term.signal.aborted) resolve();
    else term.signal.addEventListener("abort", resolve, { once: true });
  });
  say("stops", term.token);
});
await tenure.close();
