import { readFileSync } from "node:fs";
import { systemClock } from "@tenure/kernel";
import type { Deployment } from "@tenure/testkit";

/** Prints how a list of durations is spread. */
export function reportSpread(what: string, values: readonly number[]): void {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1);
  say(`${what}: ${sorted.length} times, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`);
}

/** Prints a line. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Percent of one core that NATS and each service use while some seconds pass. */
export async function processorShares(deployment: Deployment, seconds: number): Promise<string> {
  const pids = [
    ["nats", deployment.nats.pid] as const,
    ...[...deployment.processes].map(([name, { pid }]) => [name, pid] as const),
  ];
  const before = pids.map(([, pid]) => processorMs(pid));
  const beganAtMs = systemClock.now();
  await systemClock.sleep(seconds * 1_000);
  const tookMs = systemClock.now() - beganAtMs;
  const shares = pids.map(([name, pid], place) => {
    const share = ((processorMs(pid) - (before[place] ?? 0)) / tookMs) * 100;
    return `${name} ${share.toFixed(1)} %`;
  });
  return shares.join(", ");
}

/** Processor time of a process so far, in ms; the kernel counts in hundredths of a second. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
