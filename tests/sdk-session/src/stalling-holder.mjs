// A holder whose main thread stalls after ten renewals. Arguments: the NATS URL, the lease's name, what the renewing
// thread does then, and for how many ms it stalls. It says how much of its term remains when it runs again.
import { openSession } from "@tenure/sdk/session";

const [url, name, onStall, stallMs] = process.argv.slice(2);
const timing = { leaseDuration: 1_500, usableTerm: 300, renewInterval: 100, requestTimeout: 50 };

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
      if (renewals === 10) setImmediate(stall);
    },
    onMissed: (error) => say(`missed ${error.reason}`),
    onRefused: (error) => say(`refused ${error.reason}`),
    onEndOfTerm() {},
    onEnded() {},
  },
);

function stall() {
  say("renewed ten times");
  const untilMs = session.clock.now() + Number(stallMs);
  while (session.clock.now() < untilMs);
  say(`back with ${remainingMs()} ms`);
  setInterval(() => say(`running with ${remainingMs()} ms`), 50);
}
