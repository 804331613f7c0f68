// Leads tests/<lease> and exits when that is lost: node daemon.mjs LEASE host:port [stubborn]. Stubborn does not listen.
import { connect } from "@tenure/sdk";

const [lease, endpoint, manner = "polite"] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${line}\n`);
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

const tenure = await connect({ endpoint, namespace: "tests", timing: { leaseDuration: "5s" } });
await tenure.lead(lease, { signal: stop.signal, exitOnLoss: true }, async (term) => {
  term.signal.addEventListener("abort", () => say(`told to stop with ${Math.round(term.remainingMs)} ms left`));
  say(`leads with token ${term.token}`);
  await new Promise((resolve) => {
    if (manner !== "stubborn") term.signal.addEventListener("abort", resolve);
  });
});
await tenure.close();
