// Stands for many leases at once, and says on standard output how many of them it leads, with the machine's monotonic
// clock, at most every 20 ms.
import { connect } from "@tenure/sdk";

const [name, endpoint, binaryVersion, leases] = process.argv.slice(2);
const tenure = await connect({
  endpoint,
  identity: name,
  namespace: "tests",
  onStall: "signal-only",
  connectTimeout: "60s",
  callTimeout: "60s",
});
let led = 0;
let isSaying = false;
const say = () => {
  if (isSaying) return;
  isSaying = true;
  setTimeout(() => {
    isSaying = false;
    process.stdout.write(`${JSON.stringify({ led, atMs: Number(process.hrtime.bigint()) / 1e6 })}\n`);
  }, 20);
};
const options = { coordinated: { binaryVersion }, onOverrun: "signal-only" };
for (let number = 0; number < Number(leases); number += 1) {
  void tenure.lead(`lease-${number}`, options, async (term) => {
    led += 1;
    say();
    await new Promise((resolve) => term.signal.addEventListener("abort", resolve, { once: true }));
    led -= 1;
    say();
  });
  // A few hundred registrations under way at once are plenty.
  if (number % 200 === 199) await new Promise((resolve) => setTimeout(resolve, 50));
}
// The last registration went out after all others on the same session.
await tenure.session.call("LeaseService.List", {
  selector: undefined,
  read: undefined,
  page: { size: 1, token: "" },
  states: [],
});
process.stdout.write("stands\n");
