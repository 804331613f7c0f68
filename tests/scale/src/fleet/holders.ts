import { connect, type Tenure, type Term } from "@tenure/sdk";
import { monotonicMs } from "./monotonic.ts";
import { report, waitForSignal } from "./reports.ts";

/** What a process of holders is asked to do. */
export interface HoldersTask {
  readonly endpoint: string;
  /** Names this process within the fleet. */
  readonly part: string;
  readonly clients: number;
  readonly renewIntervalMs: number;
  /** How long to measure, from the signal to begin. */
  readonly spanMs: number;
}

/** What a process of holders found while it measured. */
export interface HoldersResult {
  /** Terms that were lost, or whose holder was told to stop. */
  readonly lost: number;
  /** Terms that still pass their own check, with the token they began with. */
  readonly held: number;
  readonly renewals: number;
  readonly missed: number;
  /** From the send of each renewal to its acknowledgement, in ms. */
  readonly acksMs: readonly number[];
  /** The least that was left of any term at any look, in ms. */
  readonly leastLeftMs: number;
}

const task = JSON.parse(process.argv[2] ?? "{}") as HoldersTask;
const acksMs: number[] = [];
let renewals = 0;
let missed = 0;
let lost = 0;
let leastLeftMs = Number.POSITIVE_INFINITY;
let isMeasuring = false;

/** One client with a connection of its own that leads a lease of its own, and where its terms arrive. */
async function startHolder(number: number, stop: AbortSignal): Promise<{ tenure: Tenure; term: Promise<Term> }> {
  const timing = { renewInterval: task.renewIntervalMs };
  const tenure = await connect({
    endpoint: task.endpoint,
    namespace: "fleet",
    identity: `${task.part}-${number}`,
    renewal: "inline",
    connectTimeout: "60s",
    callTimeout: "60s",
    timing,
  });
  listen(tenure);
  const term = new Promise<Term>((resolve) => {
    void tenure.lead(`${task.part}-${number}`, { signal: stop }, (begun) => {
      resolve(begun);
      return new Promise<void>((done) => begun.signal.addEventListener("abort", () => done()));
    });
  });
  return { tenure, term };
}

/** Looks at the renewals on their way between the client and its session. */
function listen({ session }: Tenure): void {
  const keep = session.keep.bind(session);
  const watched: typeof keep = (hold, listener) =>
    keep(hold, {
      ...bound(listener),
      onRenewed(sentAtMs) {
        if (isMeasuring) acksMs.push(Math.round((session.clock.now() - sentAtMs) * 10) / 10);
        renewals += 1;
        listener.onRenewed(sentAtMs);
      },
      onMissed(error) {
        missed += 1;
        listener.onMissed(error);
      },
    });
  Object.defineProperty(session, "keep", { value: watched });
}

type Listener = Parameters<Tenure["session"]["keep"]>[1];

function bound(listener: Listener): Listener {
  return {
    onRenewed: (sentAtMs) => listener.onRenewed(sentAtMs),
    onMissed: (error) => listener.onMissed(error),
    onRefused: (error) => listener.onRefused(error),
    onEndOfTerm: (mark) => listener.onEndOfTerm(mark),
    onEnded: (reason, note) => listener.onEnded(reason, note),
  };
}

const stop = new AbortController();
const starting = Array.from({ length: task.clients }, (_, number) => startHolder(number, stop.signal));
const holders = await Promise.all(starting);
const terms = await Promise.all(holders.map(({ term }) => term));
const tokens = terms.map(({ token }) => token);
for (const term of terms) {
  term.signal.addEventListener("abort", () => {
    if (!stop.signal.aborted) lost += 1;
  });
}
const looking = setInterval(() => {
  for (const { remainingMs } of terms) leastLeftMs = Math.min(leastLeftMs, remainingMs);
}, 100);

report({ kind: "ready" });
await waitForSignal("SIGUSR2");
[renewals, missed, leastLeftMs] = [0, 0, Number.POSITIVE_INFINITY];
isMeasuring = true;
const endAtMs = monotonicMs() + task.spanMs;
await new Promise((resolve) => setTimeout(resolve, endAtMs - monotonicMs()));
isMeasuring = false;
clearInterval(looking);
const held = terms.filter((term, at) => term.standing !== "lost" && term.token === tokens[at]).length;
const result: HoldersResult = { lost, held, renewals, missed, acksMs, leastLeftMs };
report({ kind: "result", result });
await waitForSignal("SIGUSR2");
stop.abort();
await Promise.all(holders.map(({ tenure }) => tenure.close()));
