import { type LeaseKey, namespaceOf } from "../key.ts";
import type { LeaseRecord } from "../record/lease.ts";
import type { Labels } from "../record/lease-spec.ts";
import { byteLength, maximumLabelBytes, maximumLabels } from "../validation/field.ts";
import { hostLabel } from "./naming.ts";
import type { IdentityProfile } from "./profile.ts";

/** Labels that the server sets on an identity's lease (statement 94). */
export const identityLabels = { component: "tenure/identity", host: "tenure/host" } as const;

/**
 * Where an identity's lease keeps what must outlive its term, so that whoever collects later finds all of it in the
 * record: what the instance said of itself, and that its departure is decided (rule 23).
 */
export const annotations = { profile: "tenure/profile", departed: "tenure/departed" } as const;

/** The labels of an identity's lease: the server's own, and as many of the instance's as a lease may have. */
export function labelsOf({ component, host, labels }: Pick<IdentityProfile, "component" | "host" | "labels">): Labels {
  const own: Record<string, string> = {};
  const add = (key: string, value: string | undefined) => {
    if (value === undefined || byteLength(key) + byteLength(value) > maximumLabelBytes) return;
    if (Object.keys(own).length < maximumLabels) own[key] = value;
  };
  add(identityLabels.component, component);
  add(identityLabels.host, hostLabel(host));
  for (const [key, value] of Object.entries(labels)) add(key, value);
  return own;
}

/**
 * Whether a record is an identity that the service looks after. A lease in another namespace, or without the identity
 * label, is none and is left alone, whoever made it (statement 98).
 */
export function isIdentityRecord(record: LeaseRecord, namespace: string): boolean {
  if (record.created === undefined || record.deletion !== undefined) return false;
  return isNamed(record.key, namespace) && (record.spec.labels[identityLabels.component] ?? "") !== "";
}

function isNamed(key: LeaseKey, namespace: string): boolean {
  return key.startsWith(namespace) && namespaceOf(key) === namespace;
}

/** The holder that an instance's term shows: its id, and what tells one start of its process from another. */
export function holderOf(id: string, instanceUid: string): string {
  return instanceUid === "" ? id : `${id}_${instanceUid}`;
}

/** What tells one start of a process from another, read back from the holder. */
export function instanceUidOf(id: string, holder: string): string {
  return holder.startsWith(`${id}_`) ? holder.slice(id.length + 1) : "";
}
