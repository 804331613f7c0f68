import { ChangeKind, type Lease, LeaseSelector } from "@tenure/contracts";
import type { ClientContext } from "../instance/client-context.ts";
import type { LeaseName } from "../term/lease-name.ts";
import { isSameObservation, type Observation, observationOf } from "./observation.ts";
import { watchLeases } from "./resuming-watch.ts";

/** What may be said about observing. */
export interface ObserveOptions {
  /** Aborting it ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Who leads: the present state first, then every change that the observer does not know of yet. Resumes by itself. What
 * happened while the connection was down may be told as its result.
 */
export async function* observe(
  context: ClientContext,
  lease: LeaseName,
  options: ObserveOptions = {},
): AsyncGenerator<Observation, void, undefined> {
  let told: Observation | undefined;
  for await (const record of recordsOf(context, lease, options.signal)) {
    const observation = observationOf(lease, record, context.holder);
    if (isSameObservation(told, observation)) continue;
    told = observation;
    yield observation;
  }
}

/** The record of a lease as it is, then after each change but renewals; one that is gone has no holds. */
export async function* recordsOf(
  context: ClientContext,
  lease: LeaseName,
  signal: AbortSignal | undefined,
): AsyncGenerator<Lease | undefined, void, undefined> {
  let record: Lease | undefined;
  let isComplete = false;
  const selectors = [LeaseSelector.fromPartial(lease)];
  for await (const news of watchLeases(context, { selectors, signal })) {
    if (news.kind === "restart") {
      record = undefined;
      isComplete = false;
    } else if (news.kind === "synced") isComplete = true;
    else record = news.event.kind === ChangeKind.REMOVED ? withoutHolds(news.event.lease) : news.event.lease;
    if (isComplete) yield record;
  }
}

/** A record that is gone shows nobody, whatever its last state was; its last token still tells one vacancy from another. */
function withoutHolds(lease: Lease | undefined): Lease | undefined {
  return lease === undefined ? undefined : { ...lease, holds: [] };
}

/**
 * Calls the listener with each new leader's identity: the first that is seen, every other after it, and this client too
 * (statement 31). A vacancy is not told, but the same leader after one is. Resolves when the signal is aborted.
 */
export async function tellNewLeaders(
  observations: AsyncIterable<Observation>,
  listener: (holder: string) => void,
): Promise<void> {
  let holder = "";
  for await (const observation of observations) {
    const next = observation.kind === "leader" ? observation.holder : "";
    if (next !== holder && next !== "") listener(next);
    holder = next;
  }
}
