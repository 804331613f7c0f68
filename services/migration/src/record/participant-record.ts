import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { reportFromWire, timestampFromMs, MigrationParticipant as WireParticipant } from "@tenure/contracts";
import { type LeaseKey, type LeaseRecord, leaseKey, maximumAnnotationBytes, nameOf, namespaceOf } from "@tenure/core";
import { invalid } from "@tenure/kernel";
import type { MigrationParticipant } from "@tenure/migration-rules";

const namespace = "tenure-system";
/** Up to the colon, so that all participants share a partition: whoever is written later sees who was before. */
const prefix = "migration-participant:";
const annotation = "tenure/migration-participant";
/** A report that was inflated is at most this long: far above what fits into an annotation without compression. */
const mostBytes = 256 * 1024;

/** The lease that a participant is, for as long as it reports. One instance may take part under several primary locks. */
export function participantLease({ instance, primary }: Pick<WireParticipant, "instance" | "primary">): LeaseKey {
  const digest = createHash("sha256")
    .update(JSON.stringify([leaseKey(primary?.namespace ?? "", primary?.name ?? ""), instance]))
    .digest("hex");
  return leaseKey(namespace, `${prefix}${digest.slice(0, 32)}`);
}

/** Whether a lease is that of a participant. */
export function isParticipantLease(key: LeaseKey): boolean {
  return nameOf(key).startsWith(prefix) && namespaceOf(key) === namespace;
}

/** What a participant said of itself, as its lease keeps it. */
export function participantAnnotations(participant: WireParticipant): Readonly<Record<string, string>> {
  const message = WireParticipant.encode({ ...participant, joinedAt: undefined }).finish();
  const text = deflateRawSync(message).toString("base64");
  if (text.length + annotation.length <= maximumAnnotationBytes) return { [annotation]: text };
  const rule = `must fit into ${maximumAnnotationBytes} bytes when compressed`;
  throw invalid([{ field: "participant", rule, value: `${participant.controllers.length} controllers` }]);
}

/** Whether a lease says the same of its participant. */
export function hasAnnotations({ spec }: LeaseRecord, annotations: Readonly<Record<string, string>>): boolean {
  return spec.annotations[annotation] === annotations[annotation];
}

/** A participant as the API shows it and as the rules see it. */
export interface StoredParticipant {
  readonly wire: WireParticipant;
  readonly participant: MigrationParticipant;
  readonly revision: bigint;
}

/** The participant of a lease; undefined if it has left or fallen silent, or if someone else wrote the lease. */
export function storedParticipant(record: LeaseRecord): StoredParticipant | undefined {
  const hold = record.holds[0];
  const reported = decode(record.spec.annotations[annotation] ?? "");
  if (hold === undefined || reported === undefined || record.deletion !== undefined) return undefined;
  const wire = { ...reported, joinedAt: timestampFromMs(hold.granted.wallMs) };
  const participant = { ...reportFromWire(wire), joinedRevision: hold.granted.sequence };
  return { wire, participant, revision: record.revision.sequence };
}

function decode(text: string): WireParticipant | undefined {
  try {
    return WireParticipant.decode(inflateRawSync(Buffer.from(text, "base64"), { maxOutputLength: mostBytes }));
  } catch {
    return undefined;
  }
}
