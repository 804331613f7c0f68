import { Claimant, LeaseClaim } from "@tenure/contracts";
import { openSession } from "@tenure/sdk/session";

/**
 * One session of the SDK: `node bench/run.mjs nats://127.0.0.1:4222 [seconds]`, or `127.0.0.1:8368` for a gateway. NATS
 * and at least one lease store must run; they share the machine with this process.
 */
const [address = "nats://127.0.0.1:4222", seconds = "4"] = process.argv.slice(2);
const way = address.startsWith("nats:") ? { nats: { servers: [address] } } : { grpc: { endpoints: [address] } };
const durationMs = Number(seconds) * 1_000;
const run = process.pid.toString(36);

const claimOf = (name) => ({
  claims: [LeaseClaim.create({ lease: { namespace: "bench", name } })],
  claimant: Claimant.create({ holder: "bench", timing: { leaseDuration: { seconds: 60n } } }),
});

function say(text) {
  process.stdout.write(`${text}\n`);
}

async function measurePairs(session, lanes) {
  const startMs = performance.now();
  const before = process.cpuUsage();
  const took = [];
  let pairs = 0;
  const lane = async (index) => {
    while (performance.now() - startMs < durationMs) {
      const sentMs = performance.now();
      const [{ grant }] = await session.claim(claimOf(`${run}-pair-${index}`));
      took.push(performance.now() - sentMs);
      await session.release([{ lease: grant.lease, token: grant.hold.token }]);
      pairs += 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
  const perSecond = Math.round((pairs * 1_000) / (performance.now() - startMs));
  took.sort((left, right) => left - right);
  const at = (part) => (took[Math.floor(took.length * part)] ?? 0).toFixed(2);
  const { system, user } = process.cpuUsage(before);
  const cpu = ((user + system) / pairs).toFixed(0);
  say(`${lanes} lanes: ${perSecond} pairs/s, ${cpu} us CPU each; acquire p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
}

async function measureRenewals(renewal, count, renewIntervalMs) {
  const session = await openSession({ ...way, renewal, callTimeoutMs: 60_000 });
  const names = Array.from({ length: count }, (_, index) => `${run}-${renewal}-${renewIntervalMs}-${index}`);
  const granted = [];
  for (let start = 0; start < count; start += 1_000) {
    const some = names.slice(start, start + 1_000).map((name) => session.claim(claimOf(name)));
    granted.push(...(await Promise.all(some)).flat());
  }
  let renewed = 0;
  let missed = 0;
  const listener = {
    onRenewed: () => (renewed += 1),
    onMissed: () => (missed += 1),
    onRefused: (error) => say(`refused: ${error.message}`),
    onEndOfTerm() {},
    onEnded() {},
  };
  for (const { grant, sentAtMs } of granted) {
    const { holdId, partition, token } = grant.hold;
    const timing = { renewIntervalMs, requestTimeoutMs: 10_000, usableTermMs: 50_000, provenAtMs: sentAtMs };
    session.keep({ lease: grant.lease, holdId, partition, token, ...timing }, listener);
  }
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  renewed = 0;
  missed = 0;
  const startMs = performance.now();
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, durationMs));
  const tookMs = performance.now() - startMs;
  const { system, user } = process.cpuUsage(before);
  const perSecond = Math.round((renewed * 1_000) / tookMs);
  const cpu = ((user + system) / 10 / tookMs).toFixed(0);
  say(
    `${count} holds every ${renewIntervalMs} ms, ${renewal}: ${perSecond} renewals/s, ${missed} missed, CPU ${cpu} %`,
  );
  await session[Symbol.asyncDispose]();
}

const session = await openSession({ ...way, renewal: "inline", callTimeoutMs: 30_000 });
await measurePairs(session, 100);
for (const lanes of [1, 100, 1_000]) await measurePairs(session, lanes);
await session[Symbol.asyncDispose]();
for (const renewal of ["inline", "thread"]) {
  await measureRenewals(renewal, 10_000, 2_000);
  await measureRenewals(renewal, 10_000, 50);
}
