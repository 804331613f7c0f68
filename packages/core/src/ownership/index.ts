export { type OwnershipDecision, ownershipDecision } from "./decision.ts";
export { desiredOwner, rankReplicas } from "./placement.ts";
export { nextTakeoverMs, noTakeovers, noteTakeover, type TakeoverHistory } from "./takeover-history.ts";
export { defaultOwnershipTiming, type OwnershipTiming } from "./timing.ts";
export type { LoggedOwnership, OwnershipView, ReplicaSight } from "./view.ts";
