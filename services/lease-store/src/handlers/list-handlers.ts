import type { CallContext } from "@tenure/bus";
import {
  type Candidate,
  type CandidateServiceListRequest,
  type CandidateServiceListResponse,
  candidateSelection,
  candidateToWire,
  encodePageToken,
  type Lease,
  type LeaseServiceListRequest,
  type LeaseServiceListResponse,
  leaseSelection,
  leaseToWire,
  type Page,
  type PageRequest,
  ReadConsistency,
  type ReadOptions,
  readPage,
  stateFilter,
} from "@tenure/contracts";
import type { LeaseKey, LeaseRecord, PartitionState } from "@tenure/core";
import { ReadCall } from "../replica/call.ts";
import { encodeResumeToken, type WatchSubject } from "../watch/resume-token.ts";
import { type HandlerContext, partitionOfLease, passOn, unwrap } from "./handler-context.ts";

/** How long a replica that is behind the client's revision may take to catch up. */
const catchUpMs = 1_000;

/** One record of a list, with what orders it. */
interface Entry<Shown> {
  readonly order: string;
  show(): Shown;
}

/** Lists leases in order of namespace and name, from this replica's own copy of every partition. */
export async function listLeases(
  context: HandlerContext,
  request: LeaseServiceListRequest,
  scope: CallContext,
): Promise<LeaseServiceListResponse> {
  const { clock } = context;
  const selection = unwrap(leaseSelection(request.selector));
  const isShown = stateFilter(request.states);
  await freshen(context, request.read, selection.names, scope);
  const list = await collect(context, "leases", selection.names, request.page, (state, after) => {
    const now = clock.now();
    const entries: Entry<Lease>[] = [];
    for (const record of recordsOf(state, selection.names)) {
      if (record.key <= after || !selection.matches(record) || !isShown(record, now)) continue;
      entries.push({ order: record.key, show: () => leaseToWire(record, { partition: state.partition, now }) });
    }
    return entries;
  });
  return { leases: list.shown, page: list.page };
}

/** Lists candidates in order of lease and name. */
export async function listCandidates(
  context: HandlerContext,
  request: CandidateServiceListRequest,
  scope: CallContext,
): Promise<CandidateServiceListResponse> {
  const { clock } = context;
  const selection = unwrap(candidateSelection(request.selector));
  await freshen(context, request.read, selection.leases, scope);
  const list = await collect(context, "candidates", selection.leases, request.page, (state, after) => {
    const entries: Entry<Candidate>[] = [];
    for (const record of recordsOf(state, selection.leases)) {
      for (const candidate of record.candidates?.values() ?? []) {
        const order = `${record.key} ${candidate.name}`;
        if (order <= after || !selection.matches(record, candidate)) continue;
        entries.push({ order, show: () => candidateToWire(record.key, candidate, clock.now()) });
      }
    }
    return entries;
  });
  return { candidates: list.shown, page: list.page };
}

/** Answers as the owner that everything up to the page's revision has been read: what a linearizable list waits for. */
export function barrierHere(context: HandlerContext, partition: number, signal: AbortSignal): Promise<Page> {
  const call = new ReadCall(({ state }) => ({
    nextToken: "",
    revision: state.lastSequence,
    resumeToken: new Uint8Array(0),
  }));
  return context.replica.at(partition).submit(call, signal);
}

function* recordsOf(state: PartitionState, names: readonly LeaseKey[] | undefined): Iterable<LeaseRecord> {
  if (names === undefined) yield* state.leases.values();
  for (const name of names ?? []) {
    const record = state.leases.get(name);
    if (record !== undefined) yield record;
  }
}

function partitionsOf(context: HandlerContext, names: readonly LeaseKey[] | undefined): readonly number[] {
  if (names === undefined) return context.replica.partitions.map(({ partition }) => partition);
  return [...new Set(names.map((name) => partitionOfLease(context, name)))];
}

/** Waits until this replica has read what the client has seen, or everything, as the read asks. */
async function freshen(
  context: HandlerContext,
  read: ReadOptions | undefined,
  names: readonly LeaseKey[] | undefined,
  scope: CallContext,
): Promise<void> {
  const isLinearizable = read?.consistency === ReadConsistency.LINEARIZABLE;
  const one = async (partition: number) => {
    const floor = isLinearizable ? await barrier(context, partition, scope) : (read?.minRevision ?? 0n);
    await context.replica.reach(partition, floor, catchUpMs, scope.signal);
  };
  await Promise.all(partitionsOf(context, names).map(one));
}

async function barrier(context: HandlerContext, partition: number, scope: CallContext): Promise<bigint> {
  const request = { selector: undefined, read: undefined, page: { size: 1, token: "" }, states: [] };
  const page = await context.calls.call(
    {
      partition,
      isRepeatable: true,
      local: (signal) => barrierHere(context, partition, signal),
      remote: async (route, options) =>
        (await context.clients.leases.list(request, passOn(scope, route, options))).page,
    },
    scope,
  );
  return page?.revision ?? 0n;
}

/** The slice that is asked for. Later pages show the present state of what comes after the page before. */
async function collect<Shown>(
  context: HandlerContext,
  subject: WatchSubject,
  names: readonly LeaseKey[] | undefined,
  request: PageRequest | undefined,
  entriesOf: (state: PartitionState, after: string) => readonly Entry<Shown>[],
): Promise<{ readonly shown: Shown[]; readonly page: Page }> {
  const { incarnationId } = context.watch;
  const scope = `${subject} ${incarnationId}`;
  const slice = unwrap(readPage(request, scope));
  const after = slice.from?.after ?? "";
  const ahead = new Map<number, bigint>();
  // Read before the partitions are: what changes meanwhile is told by a watch from here.
  const revision = slice.from?.revision ?? context.watch.hub.revision;
  const all: { readonly order: string; readonly shown: Shown }[] = [];
  for (const partition of partitionsOf(context, names)) {
    const entries = await context.replica.at(partition).view((state) => {
      ahead.set(partition, state.lastSequence);
      const ordered = [...entriesOf(state, after)].sort(byOrder).slice(0, slice.size + 1);
      return ordered.map(({ order, show }) => ({ order, shown: show() }));
    });
    all.push(...entries);
  }
  all.sort(byOrder);
  const page = all.slice(0, slice.size);
  const last = page.at(-1)?.order ?? "";
  const nextToken = all.length > page.length ? encodePageToken({ revision, after: last }, scope) : "";
  const place = { revision, ahead: slice.from === undefined ? ahead : new Map<number, bigint>() };
  const resumeToken = encodeResumeToken(subject, incarnationId, place);
  return { shown: page.map(({ shown }) => shown), page: { nextToken, revision, resumeToken } };
}

function byOrder(left: { readonly order: string }, right: { readonly order: string }): number {
  return left.order < right.order ? -1 : left.order > right.order ? 1 : 0;
}
