import type { Bus } from "@tenure/bus";
import type { Clock, Random } from "@tenure/kernel";
import { type Admission, AdmittedRenewals } from "./admission.ts";
import { LiveCandidates } from "./live-candidates.ts";
import type { News } from "./news.ts";
import { followOwnerBeats } from "./owner-beats.ts";
import { OwnerRoutes } from "./owner-routes.ts";
import { RenewalCoalescer, type RenewalPort } from "./renewal-coalescer.ts";
import { type LocalReads, ServiceCalls } from "./service-calls.ts";
import { SessionEngine } from "./session-engine.ts";
import { defaultSessionLimits, type SessionLimits } from "./session-limits.ts";
import { StoreCalls } from "./store-calls.ts";
import { WaitBeats } from "./wait-beats.ts";

/** What an engine is made of. What is absent has a default that is right for a process with a bus and no more. */
export interface EngineOptions {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly instance: string;
  readonly version: string;
  /** As the incarnation says; absent: learnt from the owners' beats. */
  readonly partitions?: number | undefined;
  /** Beats of owners of another incarnation are ignored; absent: of another than the first one heard. */
  readonly incarnationId?: string | undefined;
  readonly limits?: SessionLimits | undefined;
  readonly reads?: LocalReads | undefined;
  readonly news?: News | undefined;
  /** Whether coordinators are told which candidates have a live session here. */
  readonly announcesCandidates?: boolean | undefined;
  readonly wasServed?: ((fullName: string) => boolean) | undefined;
  /** Which calls may be made; absent: all. */
  readonly admission?: Admission | undefined;
}

/** An engine with what it stands on. */
export interface EngineParts extends AsyncDisposable {
  readonly engine: SessionEngine;
  readonly routes: OwnerRoutes;
  readonly store: StoreCalls;
  readonly calls: ServiceCalls;
  readonly renewals: RenewalPort;
}

/** Clients are told that the server lives at least this often, in milliseconds. */
const heartbeatMs = 5_000;
/**
 * Renewals of several clients wait this long for each other, in milliseconds: nothing beside the seconds that they have,
 * and an append of the log costs the same for a thousand. More would bound the rate of clients that wait for each: with a
 * thousand of them the rest of a round takes some 20 ms on two fast cores.
 */
const companyMs = 20;
/** Longer than any coordinator waits for an answer to its ping. */
const pingAnswerMs = 5_000;

/** Makes an engine on a bus; it follows the owners' beats. Disposing of it ends all sessions. */
export function createSessionEngine(options: EngineOptions): EngineParts {
  const { admission, bus, clock, incarnationId, instance, news, partitions, random, reads, version } = options;
  const { limits = defaultSessionLimits, wasServed = () => true } = options;
  const routes = new OwnerRoutes(partitions);
  const unfollow = followOwnerBeats(bus, routes, incarnationId);
  const store = new StoreCalls({ bus, routes, clock, random });
  const calls = new ServiceCalls({ bus, store, clock, reads, wasServed, admission });
  const coalescer = new RenewalCoalescer(store, { clock, companyMs });
  const renewals = admission === undefined ? coalescer : new AdmittedRenewals(coalescer, admission);
  const beats = new WaitBeats(store, clock);
  const live = options.announcesCandidates === true ? new LiveCandidates({ bus, clock, instance }) : undefined;
  const shared = { calls, renewals, beats, live, news, clock, random, limits, instance, version };
  const engine = new SessionEngine({ ...shared, heartbeatMs, pingAnswerMs });
  return {
    engine,
    routes,
    store,
    calls,
    renewals,
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      live?.[Symbol.dispose]();
      store[Symbol.dispose]();
      unfollow();
    },
  };
}
