/** How an ownership ended. */
export type OwnerEnding =
  | { readonly kind: "handedOver" }
  /** Another owner's batch stands in the log. If not clean, the state has changes that were never committed. */
  | { readonly kind: "replaced"; readonly isClean: boolean }
  /** The log has lost what this replica had read of it, and has put something else in its place. */
  | { readonly kind: "astray"; readonly why: string }
  /** The replica stops; what was under way has an unknown outcome. */
  | { readonly kind: "stopped" };

/** The ending of one whose batch at `prev` the log has lost. */
export function astray(prev: bigint): OwnerEnding {
  return { kind: "astray", why: replacedWhy(prev) };
}

/** What to say of a batch that the log has lost and given the place of. */
export function replacedWhy(prev: bigint): string {
  return `the log went back: batch ${prev} is not the one that was read there`;
}
