import { snapshotBucket } from "../streams.ts";
import { parseSnapshotName, type SnapshotObject } from "./snapshot-store.ts";

/**
 * How a snapshot lies in the bucket's stream: as the NATS object store lays out an object, so that NATS tools read it.
 * An object's chunks share the subject `$O.<bucket>.C.<partition>.<sequence>.<attempt>`, one attempt per try to write
 * it; its description, written last, names the attempt that is complete.
 */

/** What the NATS object store writes about an object. */
export interface ObjectDescription {
  readonly name: string;
  readonly bucket: string;
  /** The last tokens of the chunks' subject. */
  readonly nuid: string;
  readonly size: number;
  readonly chunks: number;
  readonly mtime: string;
  /** `SHA-256=` and the digest in base64url. */
  readonly digest: string;
  readonly options: { readonly max_chunk_size: number };
}

/** Half of a server's `max_payload` would do too; a quarter keeps other messages on the connection from waiting long. */
export const chunkBytes = 256 * 1024;

const digestPrefix = "SHA-256=";

/** The last tokens of the subject of one attempt's chunks. */
export function attemptOf(name: string, attempt: string): string {
  const { partition, sequence } = parseSnapshotName(name);
  return `${partition}.${sequence}.${attempt}`;
}

/** The subject of an attempt's chunks. */
export function chunkSubject(nuid: string): string {
  return `$O.${snapshotBucket}.C.${nuid}`;
}

/** The subjects of all chunks of a partition's snapshots, finished or not. */
export function chunkWildcard(partition: number): string {
  return `$O.${snapshotBucket}.C.${partition}.*.*`;
}

/** The subject of an object's description. */
export function descriptionSubject(name: string): string {
  return `$O.${snapshotBucket}.M.${paddedBase64Url(Buffer.from(name, "utf8"))}`;
}

/** The description of an object whose chunks are written. `wallMs` is for people. */
export function describe(object: SnapshotObject, nuid: string, wallMs: number): ObjectDescription {
  return {
    name: object.name,
    bucket: snapshotBucket,
    nuid,
    size: object.sizeBytes,
    chunks: Math.ceil(object.sizeBytes / chunkBytes),
    mtime: new Date(wallMs).toISOString(),
    digest: `${digestPrefix}${paddedBase64Url(Buffer.from(object.digest, "hex"))}`,
    options: { max_chunk_size: chunkBytes },
  };
}

/** Reads a description; undefined when it is none, or of an object that was deleted. */
export function parseDescription(payload: Uint8Array): ObjectDescription | undefined {
  try {
    const found = JSON.parse(new TextDecoder().decode(payload)) as Partial<ObjectDescription> & { deleted?: boolean };
    const isComplete =
      typeof found.nuid === "string" && Number.isSafeInteger(found.size) && Number.isSafeInteger(found.chunks);
    return isComplete && found.deleted !== true ? (found as ObjectDescription) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a description is of this object. */
export function describes(found: ObjectDescription, { digest, sizeBytes }: SnapshotObject): boolean {
  return found.size === sizeBytes && found.digest === `${digestPrefix}${paddedBase64Url(Buffer.from(digest, "hex"))}`;
}

/** The object store spells names and digests in base64url with padding. */
function paddedBase64Url(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}
