import { LeaseServiceAcquireRequest, LeaseServiceReleaseRequest } from "@tenure/contracts";
import { partitionOf } from "@tenure/core";
import { Fault, systemClock } from "@tenure/kernel";
import { type Deployment, waitFor } from "@tenure/testkit";
import { acquireRequest, attempt, duration, key } from "../requests.ts";
import { Routes } from "../routes.ts";
import { percentiles } from "./percentiles.ts";

/** Between rounds the deployment is left alone for this long: a hand-over meets idle processes. */
const pauseMs = 20;

/**
 * How long after a release is sent the next in line has its grant: one holder and one waiter, again and again on an idle
 * deployment. Both speak to the owner directly; the release and the grant are one batch of the log.
 */
export async function measureGrants(deployment: Deployment, rounds: number): Promise<string> {
  using routes = new Routes(deployment.bus);
  await waitFor(() => routes.known === 8, { describe: "the owners of all partitions" });
  const grantMs: number[] = [];
  const releaseMs: number[] = [];
  for (let round = 0; grantMs.length < rounds; round += 1) {
    const took = await handOver(deployment, routes, `grant-${round}`).catch(unlessMoved);
    if (took === undefined) continue;
    grantMs.push(took.grantMs);
    releaseMs.push(took.releaseMs);
  }
  return `${rounds} grants to a waiter, from the send of the release: ${percentiles(grantMs)}; the release itself: ${percentiles(releaseMs)}`;
}

/** A partition that is handed to another replica in the middle, for balance, is not what is measured here. */
function unlessMoved(thrown: unknown): undefined {
  if (!(thrown instanceof Fault) || thrown.code !== "UNAVAILABLE") throw thrown;
}

/** One holder gives a lease up while another waits for it. */
async function handOver({ leases }: Deployment, routes: Routes, name: string) {
  const partition = partitionOf(`conformance/${name}`, 8);
  const claim = (holder: string, request: LeaseServiceAcquireRequest) =>
    routes.send(partition, (options) => leases.acquire(request, { ...options, principal: holder }));
  const release = (holder: string, token: bigint) => {
    const request = LeaseServiceReleaseRequest.fromPartial({
      attempt: attempt(),
      items: [{ lease: key(name), token }],
    });
    return routes.send(partition, (options) => leases.release(request, { ...options, principal: holder }));
  };
  const first = await claim("first", acquireRequest("first", name, 60_000));
  const wait = { timeout: duration(30_000) };
  const waiting = LeaseServiceAcquireRequest.fromPartial({ ...acquireRequest("second", name, 60_000), wait });
  const granted = claim("second", waiting).then((answer) => ({ answer, atMs: systemClock.now() }));
  granted.catch(() => undefined);
  await systemClock.sleep(pauseMs);
  const sentAtMs = systemClock.now();
  await release("first", first.grants[0]?.hold?.token ?? 0n);
  const releaseMs = systemClock.now() - sentAtMs;
  const { answer, atMs } = await granted;
  await release("second", answer.grants[0]?.hold?.token ?? 0n);
  return { grantMs: atMs - sentAtMs, releaseMs };
}
