import { ChangeKind, LeaseServiceWatchRequest } from "@tenure/contracts";
import { waitFor } from "@tenure/testkit";
import { startDeployment } from "../deployment.ts";
import { Fleet } from "../fleet.ts";
import { reportSpread } from "./report.ts";

/** L of the nodes. */
const leaseDurationMs = 5_000;

/** From the instant at which a killed leader's term is over, L after its last renewal was seen, to the next function. */
export async function measureCrashes(rounds: number): Promise<void> {
  await using deployment = await startDeployment();
  await using fleet = new Fleet(deployment.grpc(), "tests/crash");
  const stop = new AbortController();
  let renewedAtMs = 0;
  const watching = (async () => {
    const selectors = [{ namespace: "tests", name: "crash" }];
    const request = LeaseServiceWatchRequest.fromPartial({ selectors, options: { includeRenewals: true } });
    for await (const { events } of deployment.leases.watch(request, { signal: stop.signal })) {
      if (events.some(({ kind, lease }) => kind !== ChangeKind.REMOVED && lease?.holds[0] !== undefined))
        renewedAtMs = nowMs();
    }
  })().catch(() => undefined);
  const names = Array.from({ length: rounds + 4 }, (_, number) => `n${String(number).padStart(2, "0")}`);
  for (const name of names) await fleet.start(name, { binaryVersion: "1.20.0" });
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const leader = await waitFor(() => fleet.leader, { timeoutMs: 60_000, intervalMs: 1 });
    await fleet.kill(leader.name);
    const lastMs = renewedAtMs;
    const next = await waitFor(() => fleet.leader, { timeoutMs: 60_000, intervalMs: 1 });
    took.push(Number(next.fromNs) / 1e6 - lastMs - leaseDurationMs);
  }
  reportSpread("the end of a killed leader's term to the next function", took);
  stop.abort();
  await watching;
}

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
