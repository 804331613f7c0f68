import { isTenureError, type Lock, type LockOptions, type Tenure } from "@tenure/sdk";
import type { Command, Invocation } from "../command/command.ts";
import { firstLease } from "../records/lease-name.ts";
import { holdFlags, timingOf } from "../run/hold-flags.ts";
import { Holding } from "../run/holding.ts";

/** What says that somebody else has, or may still be acting on, the lock. */
const taken: ReadonlySet<string> = new Set(["LEASE_HELD", "WAIT_ENDED", "LOCK_DELAY", "TOMBSTONE", "CANCELLED"]);

/** The most units of one counted lock. */
const mostHolders = 1_000_000;

/** `lock`: a program runs while it holds a lock. */
export const lockCommand: Command = {
  path: ["lock"],
  summary: "Run a program while holding a lock",
  details:
    "Like exec, for one run. With -n the lock has several holders: the program runs on at most N hosts at once.\nWith --wait 0 it does not wait: the lock is taken at once or not at all.",
  positionals: [{ name: "NAME" }],
  takesProgram: true,
  flags: [
    { name: "holders", short: "n", value: "N", summary: "how many may hold it at once (default 1)" },
    ...holdFlags,
  ],
  examples: [
    ["tenure lock backups/nightly --wait 0 -- ./backup.sh", "skip it when another host is at it: ends with 11"],
    ["tenure lock exports -n 3 -- ./export.sh", "on at most three hosts at once"],
  ],
  ownsSignals: true,
  async run(invocation) {
    const lease = firstLease(invocation);
    const name = `${lease.namespace}/${lease.name}`;
    const options = lockOptions(invocation);
    using holding = new Holding(invocation);
    const tenure = await holding.connect();
    const lock = tenure && (await take(tenure, lease, { ...options, signal: holding.waiting }));
    if (tenure === undefined || lock === undefined) return holding.withoutTerm(name);
    try {
      return await holding.run(lock, tenure);
    } finally {
      await lock.release();
    }
  },
};

async function take(
  tenure: Tenure,
  lease: ReturnType<typeof firstLease>,
  options: LockOptions,
): Promise<Lock | undefined> {
  try {
    return await tenure.lock(lease, options);
  } catch (error) {
    if (options.signal?.aborted === true || (isTenureError(error) && taken.has(error.reason))) return undefined;
    throw error;
  }
}

function lockOptions(invocation: Invocation): LockOptions {
  const { values } = invocation;
  const holders = values.integer("holders", 1, mostHolders) ?? 1;
  const isCounted = values.text("holders") !== undefined;
  return {
    ...timingOf(invocation),
    onOverrun: "signal-only",
    wait: values.durationMs("wait") !== 0,
    ...(isCounted ? { mode: "counted", capacity: holders } : {}),
  };
}
