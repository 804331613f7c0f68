/** Why collection holds back. */
export type HoldBack = "tooManyDead" | "storeRecovered" | "justStarted";

/** How collection is done. */
export interface CollectionPolicy {
  /** How long past its validity a record must be. */
  readonly graceMs: number;
  /** More than this share of the fleet dead at once is taken for a fault of the network. */
  readonly holdBackShare: number;
  /** Fewer dead than this are never too many, so that small fleets are collected too. */
  readonly holdBackMinimum: number;
  /** How long the collector must have watched, and the store have worked, without interruption. */
  readonly settleMs: number;
}

/** What the collector sees, on its own clock. */
export interface CollectionSight {
  readonly now: number;
  /** Identities in all, those that have gone not counted. */
  readonly total: number;
  /** Those past their validity, with since when. */
  readonly expired: readonly { readonly id: string; readonly sinceMs: number }[];
  /** Since when the collector follows the log without interruption; undefined while it does not. */
  readonly watchingSinceMs: number | undefined;
  /** When the store was last seen to come back: a change of owner, a restore, a reconnect. */
  readonly storeBackAtMs: number | undefined;
  /** An operator has let the present hold-back for too many dead go on. */
  readonly mayGoOn: boolean;
}

/** What is to be done now. */
export interface CollectionDecision {
  readonly holdBack: HoldBack | undefined;
  /** To be collected, longest dead first; empty while it holds back. */
  readonly due: readonly string[];
  /** Ms until something is due or the hold-back is to be judged again; undefined: nothing is. */
  readonly nextMs: number | undefined;
}

/**
 * Whom to collect. Late rather than early: each must be past validity and grace on the collector's clock, the collector
 * must have watched for long enough, and the store worked for long enough, that whoever lives could have beaten; and
 * when too many look dead at once a network fault is likelier than a mass death, until an operator says otherwise.
 */
export function collectionDecision(policy: CollectionPolicy, sight: CollectionSight): CollectionDecision {
  const { expired, now } = sight;
  if (expired.length === 0) return { holdBack: undefined, due: [], nextMs: undefined };
  const pause = pauseOf(policy, sight);
  if (pause !== undefined) return { holdBack: pause.holdBack, due: [], nextMs: pause.leftMs };
  if (!sight.mayGoOn && isTooMany(policy, sight)) return { holdBack: "tooManyDead", due: [], nextMs: undefined };
  const isDue = ({ sinceMs }: { readonly sinceMs: number }) => now - sinceMs >= policy.graceMs;
  const due = expired.filter(isDue).toSorted((left, right) => left.sinceMs - right.sinceMs);
  const waits = expired.filter((one) => !isDue(one)).map(({ sinceMs }) => sinceMs + policy.graceMs - now);
  return {
    holdBack: undefined,
    due: due.map(({ id }) => id),
    nextMs: waits.length === 0 ? undefined : waits.reduce((left, right) => Math.min(left, right)),
  };
}

/** Whether more look dead at once than can be true. */
function isTooMany({ holdBackMinimum, holdBackShare }: CollectionPolicy, { expired, total }: CollectionSight): boolean {
  return expired.length >= holdBackMinimum && expired.length > holdBackShare * total;
}

function pauseOf(
  { settleMs }: CollectionPolicy,
  { now, storeBackAtMs, watchingSinceMs }: CollectionSight,
): { readonly holdBack: HoldBack; readonly leftMs: number } | undefined {
  if (watchingSinceMs === undefined) return { holdBack: "justStarted", leftMs: settleMs };
  const watchMs = watchingSinceMs + settleMs - now;
  const storeMs = (storeBackAtMs ?? Number.NEGATIVE_INFINITY) + settleMs - now;
  if (storeMs > 0) return { holdBack: "storeRecovered", leftMs: Math.max(storeMs, watchMs) };
  return watchMs > 0 ? { holdBack: "justStarted", leftMs: watchMs } : undefined;
}
