import {
  type Candidate,
  CandidateSelector,
  type CandidateServiceListRequest,
  type CandidateServiceListResponse,
  candidateSelection,
  candidateToWire,
  encodePageToken,
  type Lease,
  type LeaseSelection,
  LeaseSelector,
  type LeaseServiceListRequest,
  type LeaseServiceListResponse,
  leaseSelection,
  leaseToWire,
  type Page,
  type PageRequest,
  pageTokenExpired,
  type ReadOptions,
  readPage,
  stateFilter,
} from "@tenure/contracts";
import { copyOfCandidate, copyOfLease, type LeaseKey, type LeaseRecord } from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import { replicaBehind } from "./faults.ts";
import type { PastState } from "./past-state.ts";
import { partitionsOf, type ReadModel, settle, viewAt } from "./read-model.ts";
import { unwrap } from "./record-kind.ts";
import { encodeResumeToken, type WatchSubject } from "./resume-token.ts";
import { type Ordered, Smallest } from "./smallest.ts";

/** How a list is answered. */
export interface ListScope {
  readonly signal: AbortSignal;
  /** Waits for what a linearizable list must show; gives the position. Absent where those are not answered. */
  barrier?(partitions: readonly number[], read: ReadOptions | undefined): Promise<bigint>;
}

/** How long a replica that is behind may take to catch up. */
const catchUpMs = 1_000;

/** Bytes of a page that must fit into one message: well below the largest that NATS takes by default, 1 MiB. */
const mostPageBytes = 640 * 1_024;

/** One record of a list, as it was when its partition was looked at. */
interface Entry<Shown> extends Ordered {
  show(): Shown;
}

/** What a list asks for. */
interface Query<Shown> {
  readonly subject: WatchSubject;
  readonly leases: readonly LeaseKey[] | undefined;
  /** Names the list, so that a token of another one is refused. */
  readonly selector: Uint8Array;
  readonly read: ReadOptions | undefined;
  readonly page: PageRequest | undefined;
  bytesOf?(shown: Shown): number;
  /** Adds what matches of a partition and comes after `after`. */
  gather(past: PastState, after: string, into: Smallest<Entry<Shown>>): void;
}

/** What is listed of leases. */
export interface LeaseListing<Shown> {
  readonly selection: LeaseSelection;
  readonly selector: LeaseSelector | undefined;
  readonly read: ReadOptions | undefined;
  readonly page: PageRequest | undefined;
  isShown(record: LeaseRecord, now: number): boolean;
  /** Takes what is needed of a record at once, since it goes on with the log; what is returned is called later or never. */
  see(record: LeaseRecord, past: PastState, now: number): () => Shown;
  /** Bytes of one that is shown, where a page must fit into one message. */
  bytesOf?(shown: Shown): number;
}

/** Lists leases in order of namespace and name, all pages at the revision of the first. */
export async function listLeases(
  model: ReadModel,
  request: LeaseServiceListRequest,
  scope: ListScope,
): Promise<LeaseServiceListResponse> {
  const selection = unwrap(leaseSelection(request.selector, request));
  const { shown, page } = await listByLease<Lease>(model, scope, {
    ...request,
    selection,
    isShown: stateFilter(request.states),
    see(record, { partition }, now) {
      const seen = copyOfLease(record);
      return () => leaseToWire(seen, { partition, now });
    },
  });
  return { leases: shown, page };
}

/** Lists one thing for each lease, in order of namespace and name, all pages at the revision of the first. */
export function listByLease<Shown>(model: ReadModel, scope: ListScope, listing: LeaseListing<Shown>) {
  const { bytesOf, isShown, page, read, see, selection, selector } = listing;
  return collect<Shown>(model, scope, {
    subject: "leases",
    leases: selection.names,
    selector: LeaseSelector.encode(selector ?? LeaseSelector.create()).finish(),
    read,
    page,
    ...(bytesOf && { bytesOf }),
    gather(past, after, into) {
      const now = model.clock.now();
      gatherOf(past, selection.names, after, into, (record) => {
        const order = record.key;
        if (order <= after || !into.admits(order) || !selection.matches(record) || !isShown(record, now)) return 0;
        into.add({ order, show: see(record, past, now) });
        return 1;
      });
    },
  });
}

/** Lists candidates in order of lease and name, all pages at the revision of the first. */
export async function listCandidates(
  model: ReadModel,
  request: CandidateServiceListRequest,
  scope: ListScope,
): Promise<CandidateServiceListResponse> {
  const { leases, matches } = unwrap(candidateSelection(request.selector, request));
  const list = await collect<Candidate>(model, scope, {
    subject: "candidates",
    leases,
    selector: CandidateSelector.encode(request.selector ?? CandidateSelector.create()).finish(),
    read: request.read,
    page: request.page,
    gather(past, after, into) {
      const now = model.clock.now();
      gatherOf(past, leases, after, into, (record) => {
        let found = 0;
        for (const { candidate, lease } of past.candidatesOf(record)) {
          // A space is below every character of a name, so this is the order of leases and then of candidates.
          const order = `${lease.key} ${candidate.name}`;
          if (order <= after || !into.admits(order) || !matches(lease, candidate)) continue;
          const seen = copyOfCandidate(candidate);
          into.add({ order, show: () => candidateToWire(lease.key, seen, now) });
          found += 1;
        }
        return found;
      });
    },
  });
  return { candidates: list.shown, page: list.page };
}

/** Looks at the leases of a partition that may be on the page: those of some names, or all from where it begins on. */
function gatherOf(
  past: PastState,
  names: readonly LeaseKey[] | undefined,
  after: string,
  into: Smallest<Ordered>,
  take: (record: LeaseRecord) => number,
): void {
  if (names !== undefined) {
    for (const record of past.leases(names)) take(record);
    return;
  }
  for (const record of past.gone()) take(record);
  const [from = ""] = after.split(" ");
  let found = 0;
  for (const record of past.inOrder(from)) {
    // Everything that follows comes later in the order of the list.
    if (found >= into.most || !into.admits(record.key)) return;
    found += take(record);
  }
}

async function collect<Shown>(
  model: ReadModel,
  scope: ListScope,
  query: Query<Shown>,
): Promise<{ readonly shown: Shown[]; readonly page: Page }> {
  const { subject } = query;
  const name = `${subject} ${model.incarnationId} ${Buffer.from(query.selector).toString("base64")}`;
  const slice = unwrap(readPage(query.page, name));
  const partitions = partitionsOf(model, query.leases);
  // For what changes until the last partition, and until the last page, has been looked at.
  model.hub.keepPast();
  const revision = slice.from?.revision ?? (await firstRevision(model, scope, query, partitions));
  if (slice.from !== undefined) await model.hub.reach(revision, catchUpMs, scope.signal);
  const smallest = new Smallest<Entry<Shown>>(slice.size + 1);
  for (const partition of partitions) {
    const isKept = await viewAt(model, partition, revision, (past) => {
      query.gather(past, slice.from?.after ?? "", smallest);
      return true;
    });
    if (isKept !== true) throw noLongerKept(model, revision);
  }
  const found = smallest.take();
  const shown = fitting(found.slice(0, slice.size), query.bytesOf);
  const after = found[shown.length - 1]?.order ?? "";
  const nextToken = found.length > shown.length ? encodePageToken({ revision, after }, name) : "";
  const resumeToken = encodeResumeToken(subject, model.incarnationId, { revision });
  return { shown, page: { nextToken, revision, resumeToken } };
}

/** What is shown of the entries: as many as fit into a page, and one at least. */
function fitting<Shown>(entries: readonly Entry<Shown>[], bytesOf: ((shown: Shown) => number) | undefined): Shown[] {
  const shown: Shown[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const one = entry.show();
    bytes += bytesOf?.(one) ?? 0;
    if (bytes > mostPageBytes && shown.length > 0) break;
    shown.push(one);
  }
  return shown;
}

/** The revision that a new list shows: all that the caller has seen, and all that was committed here. */
async function firstRevision(
  model: ReadModel,
  { barrier, signal }: ListScope,
  { read }: Query<unknown>,
  partitions: readonly number[],
): Promise<bigint> {
  const committed = (await barrier?.(partitions, read)) ?? 0n;
  const seen = read?.minRevision ?? 0n;
  await settle(model, partitions, seen > committed ? seen : committed, catchUpMs, signal);
  return model.hub.revision;
}

function noLongerKept({ hub }: ReadModel, revision: bigint): Fault {
  if (!hub.isFollowing) return replicaBehind("the log is being read");
  return pageTokenExpired({ revision, after: "" });
}
