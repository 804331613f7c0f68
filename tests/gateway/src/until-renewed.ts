import { waitFor } from "@tenure/testkit";

/** Resolves when a term of the SDK has been renewed: what is left of it only grows by that. */
export async function untilRenewed(term: { readonly remainingMs: number }): Promise<void> {
  let lastMs = term.remainingMs;
  const hasGrown = () => {
    const beforeMs = lastMs;
    lastMs = term.remainingMs;
    return lastMs > beforeMs;
  };
  await waitFor(hasGrown, { describe: "a renewal", timeoutMs: 30_000 });
}
