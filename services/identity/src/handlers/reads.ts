import type { CallContext } from "@tenure/bus";
import {
  encodePageToken,
  type Identity,
  IdentitySelector,
  type IdentityServiceGetRequest,
  type IdentityServiceGetResponse,
  type IdentityServiceListRequest,
  type IdentityServiceListResponse,
  type PageSlice,
  pageTokenExpired,
  ReadConsistency,
  type ReadOptions,
  readPage,
} from "@tenure/contracts";
import { identityAnnotations, isIdentityRecord, type LeaseKey, type LeaseRecord, leaseKey, nameOf } from "@tenure/core";
import { Fault } from "@tenure/kernel";
import { type PastState, replicaBehind, viewAt } from "@tenure/reader";
import { identityToWire, livenessOf } from "../record/identity-to-wire.ts";
import { catchUpMs, type IdentityContext } from "./identity-context.ts";
import { type IdentitySelection, identitySelection } from "./selection.ts";

/** Times that a page is gathered anew because a record changed meanwhile. */
const mostTries = 5;

/** Reads one identity. */
export async function get(
  context: IdentityContext,
  { id, read }: IdentityServiceGetRequest,
  scope: CallContext,
): Promise<IdentityServiceGetResponse> {
  const { clock, directory, reader, store } = context;
  const key = leaseKey(directory.namespace, id);
  const asking = { principal: scope.principal, deadlineMs: scope.remainingMs(), signal: scope.signal };
  await reach(context, read, scope, () => store.freshRevision(key, asking));
  const partition = directory.partitionOf(key);
  // A partition that is being loaded says so rather than that nobody is there.
  await reader.view(partition, () => undefined);
  const record = directory.recordOf(id);
  if (record === undefined) throw identityNotFound(id, reader.revision);
  return { identity: identityToWire(record, partition, clock.now()), revision: reader.revision };
}

/** Reads identities in order of id, all pages at the revision of the first; how alive they are is as of each page. */
export async function list(
  context: IdentityContext,
  request: IdentityServiceListRequest,
  scope: CallContext,
): Promise<IdentityServiceListResponse> {
  const { directory, reader, store } = context;
  const selection = identitySelection(request.selector);
  const name = Buffer.from(IdentitySelector.encode(request.selector ?? IdentitySelector.create()).finish());
  const pageScope = `identities ${reader.incarnationId} ${name.toString("base64")}`;
  const slice = readPage(request.page, pageScope);
  if (slice instanceof Fault) throw slice;
  const asking = { principal: scope.principal, deadlineMs: scope.remainingMs(), signal: scope.signal };
  const isFirst = slice.from === undefined;
  if (isFirst) await reach(context, request.read, scope, () => store.freshListRevision(asking, directory.namespace));
  else await reader.hub.reach(slice.from?.revision ?? 0n, catchUpMs, scope.signal);
  if (!reader.isReady) throw replicaBehind("the log is being read");
  const revision = slice.from?.revision ?? reader.revision;
  const { identities, isLast } = await gather(context, selection, slice, revision);
  const last = isLast ? undefined : identities.at(-1);
  const nextToken = last === undefined ? "" : encodePageToken({ revision, after: last.id }, pageScope);
  const page = { nextToken, revision, resumeToken: new Uint8Array(0) };
  return { identities, page };
}

/** One record of a page. */
interface Found {
  readonly record: LeaseRecord;
  readonly partition: number;
}

/** Bytes of one page: well below the largest message that NATS takes by default, 1 MiB. */
const mostPageBytes = 640 * 1024;
/** What an identity takes beside its profile. */
const recordBytes = 256;
/** More than these hardly fit, so no more are looked for. */
const mostRecords = 2_000;

/** What is looked at of one partition: all of a small page, of a large one its share and some more, as names fall unevenly. */
function shareOf(size: number, partitions: number): number {
  return Math.min(size + 1, Math.ceil((size / partitions) * 1.1) + 64);
}

/** How many records a page has: as many as asked for, if they fit into a message. */
function fitting(found: readonly Found[], size: number): number {
  let bytes = 0;
  for (let count = 0; count < Math.min(found.length, size); count += 1) {
    bytes += recordBytes + ((found[count]?.record.spec.annotations[identityAnnotations.profile]?.length ?? 0) * 3) / 4;
    if (bytes > mostPageBytes) return Math.max(1, count);
  }
  return Math.min(found.length, size);
}

/** The page, and whether it is the last. */
async function gather(
  { clock, directory, reader }: IdentityContext,
  selection: IdentitySelection,
  { from, size: asked }: PageSlice,
  revision: bigint,
): Promise<{ readonly identities: Identity[]; readonly isLast: boolean }> {
  const size = Math.min(asked, mostRecords);
  const share = shareOf(size, reader.partitions);
  const now = clock.now();
  const after = from?.after ?? "";
  const isSelected = (record: LeaseRecord) =>
    isMeant(record, directory.namespace, after) &&
    selection.matchesProfile(record) &&
    selection.matchesLiveness(livenessOf(record, now));
  for (let tries = 0; tries < mostTries; tries += 1) {
    const found: Found[] = [];
    // Beyond it not every partition was looked at: the page ends there at the latest.
    let end: LeaseKey | undefined;
    for (let partition = 0; partition < reader.partitions; partition += 1) {
      const part = await viewAt(reader, partition, revision, (past) =>
        firstRecords(past, `${directory.namespace}/`, after, { most: share, bound: end }, isSelected),
      );
      if (part === undefined) throw pageTokenExpired({ revision, after });
      for (const record of part.records) found.push({ record, partition });
      end = part.end ?? end;
    }
    const page = found
      .filter(({ record }) => end === undefined || record.key <= end)
      .sort((left, right) => byKey(left.record, right.record))
      .slice(0, size + 1);
    // Nothing was copied, so a record that has changed since its partition was looked at is not what the list shows.
    if (page.some(({ record }) => record.revision.sequence > revision)) continue;
    const shown = page.slice(0, fitting(page, size));
    return {
      identities: shown.map((one) => identityToWire(one.record, one.partition, now)),
      isLast: shown.length === page.length && end === undefined,
    };
  }
  throw replicaBehind("the log changes faster than it can be listed");
}

/** The first records of a partition that are wanted, and up to where it was looked at if not to its end or the bound. */
function firstRecords(
  past: PastState,
  prefix: string,
  after: string,
  { bound, most }: { readonly most: number; readonly bound: LeaseKey | undefined },
  isSelected: (record: LeaseRecord) => boolean,
): { readonly records: readonly LeaseRecord[]; readonly end: LeaseKey | undefined } {
  const records: LeaseRecord[] = [...past.gone()].filter(isSelected);
  let taken = 0;
  for (const record of past.inOrder(`${prefix}${after}`)) {
    if (!record.key.startsWith(prefix) || (bound !== undefined && record.key > bound)) break;
    if (!isSelected(record)) continue;
    records.push(record);
    taken += 1;
    if (taken === most) return { records, end: record.key };
  }
  return { records, end: undefined };
}

function isMeant(record: LeaseRecord, namespace: string, after: string): boolean {
  return isIdentityRecord(record, namespace) && nameOf(record.key) > after;
}

function byKey(left: LeaseRecord, right: LeaseRecord): number {
  return left.key < right.key ? -1 : 1;
}

async function reach(
  { reader }: IdentityContext,
  read: ReadOptions | undefined,
  { signal }: CallContext,
  fresh: () => Promise<bigint>,
): Promise<void> {
  const isFresh = read?.consistency === ReadConsistency.LINEARIZABLE;
  const floor = read?.minRevision ?? 0n;
  const revision = isFresh ? await fresh() : 0n;
  // Who has just written something finds it, also if it does not say what it has seen.
  await reader.hurry();
  await reader.hub.reach(revision > floor ? revision : floor, catchUpMs, signal);
}

/** The fault of an id that has no record: its process must register again. */
export function identityNotFound(id: string, revision: bigint): Fault {
  return new Fault({
    code: "NOT_FOUND",
    reason: "IDENTITY_NOT_FOUND",
    message: `there is no identity ${JSON.stringify(id.slice(0, 80))}: it never registered, left, or was collected`,
    details: { revision },
  });
}
