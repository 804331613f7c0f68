import { durationToMs, ResyncReason, WatchMarkKind, type WatchOptions, type WatchPosition } from "@tenure/contracts";
import { invalid } from "@tenure/kernel";
import { changesMissed } from "./faults.ts";

const heartbeatBoundsMs = { least: 1_000, most: 60_000, usual: 5_000 };

/** How often a watch says that it lives; refuses what is out of bounds. */
export function heartbeatOf(options: WatchOptions | undefined): number {
  if (options?.heartbeatInterval === undefined) return heartbeatBoundsMs.usual;
  const intervalMs = durationToMs(options.heartbeatInterval);
  if (intervalMs >= heartbeatBoundsMs.least && intervalMs <= heartbeatBoundsMs.most) return intervalMs;
  const rule = "must be between 1s and 60s";
  throw invalid([{ field: "options.heartbeat_interval", rule, value: `${intervalMs}ms` }]);
}

/** For watches that always begin anew: whether the watcher brings a token and must be told so; refuses one that minds. */
export function beginsAnew(options: WatchOptions | undefined): boolean {
  if (options === undefined || options.resumeToken.length === 0) return false;
  if (options.failOnGap) throw changesMissed(ResyncReason.TOKEN_TOO_OLD);
  return true;
}

/** Where a watch stands, with a mark. A resync without a reason is one for a token that is not followed. */
export function markAt(
  kind: WatchMarkKind,
  revision: bigint,
  resyncReason: ResyncReason = kind === WatchMarkKind.RESYNC ? ResyncReason.TOKEN_TOO_OLD : ResyncReason.UNSPECIFIED,
): Pick<WatchPosition, "revision" | "mark"> {
  return { revision, mark: { kind, resyncReason } };
}
