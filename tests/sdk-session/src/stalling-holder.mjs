// A holder whose main thread stalls after ten renewals, when the other thread has taken over. Arguments: the NATS URL, the lease's name, what the renewing
// thread does then, for how many ms it stalls, and `at-once` if it stalls in the very turn of its grant, with a longer
// term. It says how much of its term remains when it runs again.
import { openSession } from "@tenure/sdk/session";

const [url, name, onStall, stallMs, when = "later"] = process.argv.slice(2);
// The store keeps it for longer than any stall, so that a renewal which is late on a busy machine is not refused.
const lasting =
  when === "at-once" ? { leaseDuration: 4_000, usableTerm: 2_000 } : { leaseDuration: 10_000, usableTerm: 300 };
const timing = { ...lasting, renewInterval: 100, requestTimeout: 50 };

const session = await openSession({
  nats: { servers: [url], principal: "tester" },
  onStall,
  mainSilenceMs: 400,
  requestTimeoutMs: 1_000,
  beatIntervalMs: 200,
});
const duration = (ms) => ({ seconds: BigInt(Math.floor(ms / 1_000)), nanos: (ms % 1_000) * 1_000_000 });
const claimant = { holder: "staller", holderKey: "", identity: "", participant: undefined, value: new Uint8Array(0) };
const [granted] = await session.claim({
  claims: [{ lease: { namespace: "tests", name }, mode: 1, units: 1, spec: undefined }],
  claimant: {
    ...claimant,
    renewKeyHash: new Uint8Array(0),
    timing: Object.fromEntries(Object.entries(timing).map(([key, ms]) => [key, duration(ms)])),
  },
});
const { hold, lease } = granted.grant;

const say = (text) => process.stdout.write(`${text}\n`);
const remainingMs = () => Math.round(keeping.provenAtMs + timing.usableTerm - session.clock.now());

let renewals = 0;
let isStalling = false;

/** Whether the other thread renews: a term is proven anew while this one runs nothing. */
function isRenewedByThread() {
  const sinceMs = session.clock.now();
  while (session.clock.now() < sinceMs + 150);
  return keeping.provenAtMs > sinceMs;
}

const keeping = session.keep(
  {
    lease,
    holdId: hold.holdId,
    partition: hold.partition,
    token: hold.token,
    renewIntervalMs: timing.renewInterval,
    requestTimeoutMs: 1_000,
    provenAtMs: granted.sentAtMs,
    usableTermMs: timing.usableTerm,
  },
  {
    onRenewed() {
      renewals += 1;
      if (renewals >= 10 && !isStalling && isRenewedByThread()) {
        isStalling = true;
        setImmediate(stall, "renewed ten times");
      }
    },
    onMissed: (error) => say(`missed ${error.reason}`),
    onRefused: (error) => say(`refused ${error.reason}`),
    onEndOfTerm() {},
    onEnded() {},
  },
);

if (when === "at-once") stall("granted");

function stall(why) {
  say(why);
  const untilMs = session.clock.now() + Number(stallMs);
  while (session.clock.now() < untilMs);
  say(`back with ${remainingMs()} ms`);
  setInterval(() => say(`running with ${remainingMs()} ms`), 50);
}
