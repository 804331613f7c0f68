/**
 * One address for any number of gateways on one machine: new connections go in turn to a gateway that is ready.
 *
 *   front <host> <port> <port of /readyz>
 *
 * A published port belongs to one container, so without this only one gateway could have it. Where a load balancer
 * stands before the gateways, this is not needed.
 */
import { once } from "node:events";
import { Backends } from "./front/backends.mjs";
import { forward } from "./front/forward.mjs";

/** A gateway that stops being ready gets no new connection after about this long. */
const refreshEveryMs = 1_000;
/** What open connections get to end in when the container is stopped; below compose's grace period. */
const stopBoundMs = 3_000;

const [host, port, readyPort] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
/** @param {number} value */
const isPort = (value) => Number.isInteger(value) && value > 0 && value < 65_536;
if (host === undefined || !isPort(port) || !isPort(readyPort)) {
  process.stderr.write("tenure front: usage: front <host> <port> <port of /readyz>\n");
  process.exit(2);
}

const backends = new Backends({ host, readyPort, timeoutMs: refreshEveryMs });
/** @type {NodeJS.Timeout} */
let nextRound;
async function refreshForEver() {
  await backends.refresh();
  nextRound = setTimeout(refreshForEver, refreshEveryMs);
}
await refreshForEver();

const forwards = [port, readyPort].map((each) => forward({ host: "0.0.0.0", port: each, backends }));
await Promise.all(forwards.map(({ server }) => once(server, "listening")));
process.stdout.write(`tenure front: ports ${port} and ${readyPort} lead to ${host}\n`);

for (const signal of ["SIGTERM", "SIGINT"]) {
  process.once(signal, async () => {
    await Promise.all(forwards.map((each) => each.stop(stopBoundMs)));
    clearTimeout(nextRound);
    process.exit(0);
  });
}
