import { type Bus, ownerWildcard } from "@tenure/bus";
import { OwnerBeat } from "@tenure/contracts";
import type { OwnerRoutes } from "./owner-routes.ts";

/**
 * Keeps routes as the owners' beats tell them, for callers that do not read the log. Beats of another incarnation than
 * the one named, or than the first one heard, are ignored. Returns what ends it.
 */
export function followOwnerBeats(
  bus: Pick<Bus, "subscribe">,
  routes: OwnerRoutes,
  incarnationId?: string | undefined,
): () => void {
  let incarnation = incarnationId;
  return bus.subscribe(ownerWildcard, (payload) => {
    const beat = OwnerBeat.decode(payload);
    if (beat.incarnationId === "") return;
    incarnation ??= beat.incarnationId;
    if (beat.incarnationId !== incarnation) return;
    if (routes.partitions === undefined && beat.partitions > 0) routes.setPartitions(beat.partitions);
    for (const { partition, epoch } of beat.owned) routes.note(partition, epoch);
  });
}
