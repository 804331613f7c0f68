import type { CallContext } from "@tenure/bus";
import {
  encodePageToken,
  type MigrationConfiguration,
  type MigrationServiceGetRequest,
  type MigrationServiceGetResponse,
  type MigrationServiceListRequest,
  MigrationServiceListResponse,
  pageTokenExpired,
  ReadConsistency,
  readPage,
} from "@tenure/contracts";
import { Fault } from "@tenure/kernel";
import { type MigrationContext, namespaceIn, reach, requireConfiguration } from "./migration-context.ts";

/** Documents of a page: at 16 KiB each, well below the largest message that NATS takes by default, 1 MiB. */
const mostOfPage = 25;

/** Reads one configuration. */
export async function get(
  context: MigrationContext,
  request: MigrationServiceGetRequest,
  scope: CallContext,
): Promise<MigrationServiceGetResponse> {
  await reach(context, request.read, scope);
  return { configuration: requireConfiguration(context, request).stored.wire, revision: context.reader.revision };
}

/** Reads configurations in order of namespace and name, all pages at the revision of the first. */
export async function list(
  context: MigrationContext,
  request: MigrationServiceListRequest,
  scope: CallContext,
): Promise<MigrationServiceListResponse> {
  const { directory, reader } = context;
  const pageScope = `migrations ${reader.incarnationId} ${request.namespace}`;
  const slice = readPage(request.page, pageScope);
  if (slice instanceof Fault) throw slice;
  const { from } = slice;
  const isFirst = from === undefined;
  await reach(
    context,
    isFirst ? request.read : { consistency: ReadConsistency.PLAIN, minRevision: from.revision },
    scope,
  );
  // Few change rarely: a list that one changed under is begun anew rather than shown as it was.
  if (from !== undefined && directory.configurationsRevision > from.revision) throw pageTokenExpired(from);
  const revision = from?.revision ?? reader.revision;
  const namespaces = request.namespace === "" ? directory.namespaces : [namespaceIn(context, request.namespace)];
  const all = namespaces
    .flatMap((namespace) => directory.stateOf(namespace).configurations.map(({ wire }) => wire))
    .map((wire) => ({ wire, place: placeOf(wire) }))
    .filter(({ place }) => place > (from?.after ?? ""))
    .sort((left, right) => (left.place < right.place ? -1 : 1));
  const shown = all.slice(0, Math.min(slice.size, mostOfPage));
  const last = shown.length < all.length ? shown.at(-1) : undefined;
  const nextToken = last === undefined ? "" : encodePageToken({ revision, after: last.place }, pageScope);
  return MigrationServiceListResponse.fromPartial({
    configurations: shown.map(({ wire }) => wire),
    page: { nextToken, revision },
  });
}

/** Where a configuration stands in a list: no namespace or name has a space. */
function placeOf({ lock, name }: MigrationConfiguration): string {
  return `${lock?.namespace ?? ""} ${name}`;
}
