import { createHash } from "node:crypto";
import type { Lease } from "@tenure/contracts";
import { type KeyOrder, takesPrecedence } from "@tenure/core";
import { JoinedSignal } from "@tenure/kernel";
import { toTenureError } from "../errors.ts";
import type { ClientContext } from "../instance/client-context.ts";
import { recordsOf } from "../observe/observe.ts";
import type { ClaimOptions } from "../session/session.ts";
import { beginOrGiveBack, claimTerms, type PlannedClaim } from "../term/claim-terms.ts";
import type { HeldTerm } from "../term/held-term.ts";
import { optionError } from "../timing/duration-input.ts";

/**
 * Whether the claimant goes before a holder with this key, which is empty for holders without one; or a built-in order
 * of its own `holderKey`, by which an empty or unreadable key ranks lowest and equal keys leave the holder alone.
 */
export type KeyComparison = KeyOrder | ((existingKey: string) => boolean);

/** How a claimant that goes before the holder comes to lead. */
export interface PrecedenceOptions {
  /** For claimants without a coordinator; whoever it goes before is asked to finish. Default: it goes before nobody. */
  readonly keyComparison?: KeyComparison | undefined;
  /**
   * `ask` (default): the holder finishes and releases, and this client follows, so that two never lead at once. `steal`
   * takes the lease at once: the former holder may act until it notices, so only for work whose every effect carries the
   * token. It stands in the history of the lease, and where the gateway has a policy it needs `operate`.
   */
  readonly takeOver?: "ask" | "steal" | undefined;
}

/** Precedence that was checked. */
export interface Precedence {
  readonly isSteal: boolean;
  goesBefore(existingKey: string): boolean;
}

/** Checks the options; undefined where there is no comparison. */
export function planPrecedence(options: PrecedenceOptions, ownKey: string): Precedence | undefined {
  const { keyComparison, takeOver = "ask" } = options;
  if (takeOver !== "ask" && takeOver !== "steal") {
    throw optionError("takeOver", "must be ask or steal", String(takeOver));
  }
  if (keyComparison === undefined) return undefined;
  const goesBefore =
    typeof keyComparison === "function"
      ? keyComparison
      : (existing: string) => takesPrecedence(ownKey, existing, keyComparison);
  return { isSteal: takeOver === "steal", goesBefore };
}

/** A running term of a holder that the claimant goes before. */
interface Rival {
  readonly key: string;
  readonly revision: bigint;
}

/**
 * Waits in the queue as {@link claimTerms} does, and follows meanwhile who holds the lease: when the claimant goes before
 * the holder, the claim says so and the store asks the holder to finish, or it is stolen.
 */
export async function claimByPrecedence(
  context: ClientContext,
  plan: PlannedClaim,
  precedence: Precedence,
  options: ClaimOptions,
): Promise<readonly HeldTerm[] | undefined> {
  const stop = options.signal ?? context.closing;
  using rivals = new Rivals(context, plan, precedence, stop);
  for (;;) {
    const rival = rivals.take();
    if (rival !== undefined && precedence.isSteal) return await steal(context, plan, rival, options);
    const request = rival === undefined ? plan.request : { ...plan.request, supersedesKey: rival.key };
    using either = new JoinedSignal([stop, rivals.another]);
    try {
      return await claimTerms(context, { ...plan, request }, { ...options, signal: either.signal });
    } catch (error) {
      if (stop.aborted || !rivals.another.aborted) throw error;
    }
  }
}

/** Follows the lease for holders that the claimant goes before. */
class Rivals implements Disposable {
  readonly #over = new AbortController();
  readonly #ending: JoinedSignal;
  #changed = new AbortController();
  #rival: Rival | undefined;
  #failure: Error | undefined;

  constructor(context: ClientContext, plan: PlannedClaim, precedence: Precedence, stop: AbortSignal) {
    this.#ending = new JoinedSignal([stop, this.#over.signal]);
    this.#follow(context, plan, precedence, this.#ending.signal).catch((thrown: unknown) => {
      this.#failure = toTenureError(thrown);
      this.#changed.abort();
    });
  }

  /** Aborted when there is another rival than that taken last. */
  get another(): AbortSignal {
    return this.#changed.signal;
  }

  /** The rival that is known now. Throws what the comparison threw. */
  take(): Rival | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    this.#changed = new AbortController();
    return this.#rival;
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#ending[Symbol.dispose]();
  }

  async #follow(context: ClientContext, plan: PlannedClaim, precedence: Precedence, signal: AbortSignal) {
    const [lease] = plan.leases;
    if (lease === undefined) return;
    const { holder } = plan.request.claimant;
    for await (const record of recordsOf(context, lease, signal)) {
      const rival = rivalIn(record, holder, precedence);
      const isKnown = precedence.isSteal ? rival?.revision === this.#rival?.revision : rival?.key === this.#rival?.key;
      if (rival === undefined || isKnown) continue;
      this.#rival = rival;
      this.#changed.abort();
    }
  }
}

function rivalIn(record: Lease | undefined, self: string, { goesBefore }: Precedence): Rival | undefined {
  const hold = record?.holds[0];
  if (record === undefined || hold === undefined || hold.holder === self || !goesBefore(hold.holderKey))
    return undefined;
  return { key: hold.holderKey, revision: record.revision };
}

async function steal(
  context: ClientContext,
  plan: PlannedClaim,
  { key, revision: expectedRevision }: Rival,
  { signal }: ClaimOptions,
): Promise<readonly HeldTerm[] | undefined> {
  const { session } = context;
  const [lease] = plan.leases;
  const renewKeyHash = createHash("sha256").update(session.renewKey).digest();
  const claimant = { ...plan.request.claimant, renewKeyHash };
  const note = { reason: `its key ${claimant.holderKey || "(none)"} goes before ${key || "none"}` };
  // Counted from before the first send: earlier than the store counts, whichever send it took.
  const sentAtMs = session.clock.now();
  const { grant } = await session.change(
    "LeaseService.Steal",
    (attempt, sendNumber) => ({ attempt, lease, expectedRevision, claimant, sendNumber, note }),
    { signal, timeoutMs: plan.timing.requestTimeoutMs },
  );
  return grant && (await beginOrGiveBack(context, plan, [{ grant, sentAtMs }]));
}
