import type { Term } from "@tenure/sdk";
import type { Flag, Invocation } from "../command/command.ts";
import type { Job } from "./run-under-term.ts";

/** How long a program may take to end when it is asked to, unless said; the store renews as long by default. */
const defaultDrainMs = 30_000;

/** The flags that `exec` and `lock` share. */
export const holdFlags: readonly Flag[] = [
  { name: "wait", value: "DURATION", summary: "how long to wait for the lease; for ever unless given" },
  { name: "drain", value: "DURATION", summary: "from the request to stop to the kill (default 30s)" },
  { name: "lease-duration", value: "DURATION", summary: "how long after the last renewal another may take over" },
  { name: "identity", value: "ID", summary: "the identity to hold with (default host, process and six digits)" },
  { name: "pre-stop", value: "COMMAND", summary: "a shell command that runs before the program is asked to stop" },
  { name: "pass-exit-code", summary: "end with the program's own exit code, 128 + n for signal n" },
  { name: "quiet", short: "q", summary: "say nothing about waiting, leading and losing" },
];

/** The timing that the flags ask for. */
export function timingOf({ values }: Invocation) {
  const leaseDuration = values.durationMs("lease-duration");
  const stopTimeout = values.durationMs("drain") ?? defaultDrainMs;
  return { stopTimeout, ...(leaseDuration === undefined ? {} : { leaseDuration }) };
}

/** What runs under a term: the program with the term in its environment. */
export function jobOf(term: Term, renewKey: Uint8Array, { rest = [], settings, values }: Invocation): Job {
  const { holder, lease, token } = term;
  return {
    program: rest,
    preStop: values.text("pre-stop"),
    drainMs: values.durationMs("drain") ?? defaultDrainMs,
    environment: {
      ...settings.childEnvironment,
      TENURE_LEASE: `${lease.namespace}/${lease.name}`,
      TENURE_TOKEN: String(token),
      TENURE_HOLDER: holder,
      TENURE_RENEW_KEY: Buffer.from(renewKey).toString("hex"),
    },
  };
}
