import { LeaseServiceListRequest, LeaseServiceWatchRequest, ResyncReason, WatchMarkKind } from "@tenure/contracts";
import { inspectJetStream, readLogSize } from "@tenure/log";
import { type Deployment, waitFor } from "@tenure/testkit";
import { expect, it } from "vitest";
import { startStores } from "./deployment.ts";
import { Load } from "./load.ts";
import { checkLoad, running } from "./load-checks.ts";
import { acquire, create, renew } from "./requests.ts";

/** Few, so that many snapshots are made within the test. */
const args = ["--snapshot-after-batches=60"];
const selector = { namespace: "conformance" };

async function appended({ bus }: Deployment): Promise<{ readonly all: number; readonly kept: number }> {
  const log = (await inspectJetStream(bus)).streams.log;
  const first = log?.madeWithFirstSequence ?? 0n;
  return { all: Number((log?.lastSequence ?? first) - first) + 1, kept: log?.messages ?? 0 };
}

/** A position in the log that a watcher has seen. */
async function resumeTokenOf({ leases }: Deployment): Promise<Uint8Array> {
  const { page } = await leases.list(LeaseServiceListRequest.fromPartial({ selector }));
  return page?.resumeToken ?? new Uint8Array(0);
}

/** Why a watch that resumes is told to start over; undefined if it is not. */
async function resyncOf({ leases }: Deployment, resumeToken: Uint8Array): Promise<ResyncReason | undefined> {
  const request = LeaseServiceWatchRequest.fromPartial({ selectors: [selector], options: { resumeToken } });
  for await (const { position } of leases.watch(request)) {
    if (position?.mark?.kind === WatchMarkKind.RESYNC) return position.mark.resyncReason;
    if (position?.mark?.kind === WatchMarkKind.SYNCED) return undefined;
  }
  throw new Error("the watch ended before it said anything");
}

function linesOf(deployment: Deployment, text: string): readonly string[] {
  return [...deployment.processes.values()].flatMap(({ output }) => output.all.filter((line) => line.includes(text)));
}

it("the log shrinks under load, a fresh replica starts from what is left, and nothing is lost", async () => {
  await using deployment = await startStores(2, args, true);
  await create(deployment, "watched");
  const oldToken = await resumeTokenOf(deployment);
  const { token } = await acquire(deployment, "keeper", "kept", 60_000);
  const load = new Load(deployment, 48);
  await running(load, 2_000);
  let most = 0;
  await waitFor(
    async () => {
      const { all, kept } = await appended(deployment);
      most = Math.max(most, kept);
      return all > 2 * kept && kept < most;
    },
    { describe: "the log to hold less than half of what was appended", timeoutMs: 90_000, intervalMs: 100 },
  );
  expect(linesOf(deployment, "the log was compacted").length).toBeGreaterThan(8);
  expect(linesOf(deployment, "compact the log")).toEqual([]);
  expect((await readLogSize(deployment.bus, 5_000)).limitBytes).toBeGreaterThan(0);

  await deployment.start("lease-store", "store-3");
  await deployment.ready();
  await Promise.all(["store-1", "store-2"].map((name) => deployment.process(name).kill9()));
  await running(load, 500);
  await load.stop();
  await checkLoad(deployment, load);
  expect((await renew(deployment, "keeper", "kept", token, 2n))?.failure).toBeUndefined();
  expect(await resyncOf(deployment, oldToken)).toBe(ResyncReason.TOKEN_TOO_OLD);
}, 180_000);
