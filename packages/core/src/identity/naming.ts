import type { FieldViolation } from "@tenure/kernel";
import { checkLeaseKey, leaseKey } from "../key.ts";
import { defaultIdentityNamespace } from "./namespace.ts";

/** How an instance gets its id: a new one for every start, or one for each host and component. */
export type IdentityNaming = "fresh" | "stable";

/** What an id is made of. */
export interface IdentityOrigin {
  readonly component: string;
  readonly host: string;
  readonly processId: number;
  readonly naming: IdentityNaming;
}

/** SHA-256 of bytes; passed in, because rules have no machine of their own. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

/** The base58 digits that are legal in a lease's name: those without upper case. */
export const identityDigits = "123456789abcdefghijkmnopqrstuvwxyz";
const digitsInId = 6;
/** An id and what tells a start of its process from another, at most 64 bytes, together name a holder of 253 bytes. */
export const maximumIdentityBytes = 188;
const longestHostPart = 160;
const base32Digits = "abcdefghijklmnopqrstuvwxyz234567";
const encoder = new TextEncoder();

/** Six digits of chance for a fresh id. `next` is uniform in [0, 1). */
export function freshDigits(next: () => number): string {
  let text = "";
  for (let index = 0; index < digitsInId; index += 1)
    text += identityDigits[Math.floor(next() * identityDigits.length)];
  return text;
}

/**
 * The id of one start of a process: host, process id and six digits. A host's name that cannot stand in a lease's name
 * is bent into one that can: lower case, with `-` for what is illegal (statement 100).
 */
export function freshIdentityId(host: string, processId: number, digits: string): string {
  return `${hostPart(host)}-${processId}-${digits}`;
}

/**
 * The id that a host and component always have: a prefix, and in base32 the first 16 bytes of SHA-256 over both texts,
 * each after its length in two bytes (statement 93). The prefix is the component without a leading `kube-`.
 */
export function stableIdentityId(host: string, component: string, sha256: Sha256): string {
  const digest = sha256(joined(host, component)).subarray(0, 16);
  return `${component.replace(/^kube-/, "")}-${base32(digest)}`;
}

/** Every broken rule of an id that a client made itself; empty when it follows the naming that the client claims. */
export function checkIdentityId(id: string, origin: IdentityOrigin, sha256: Sha256): readonly FieldViolation[] {
  const value = JSON.stringify(id.slice(0, 80));
  if (id.length > maximumIdentityBytes) {
    return [{ field: "id", rule: `must be at most ${maximumIdentityBytes} bytes`, value: `${id.length} bytes` }];
  }
  if (origin.naming === "stable") {
    const wanted = stableIdentityId(origin.host, origin.component, sha256);
    return id === wanted ? [] : [{ field: "id", rule: `must be ${wanted} for this host and component`, value }];
  }
  if (checkLeaseKey(leaseKey(defaultIdentityNamespace, id)).length > 0 || id.includes(":")) {
    return [{ field: "id", rule: "must be a DNS-1123 subdomain", value }];
  }
  const isFresh = new RegExp(`-${origin.processId}-[${identityDigits}]{${digitsInId}}$`).test(id);
  if (isFresh) return [];
  const rule = `must end with the process id and ${digitsInId} lower-case base58 digits: <host>-${origin.processId}-<digits>`;
  return [{ field: "id", rule, value }];
}

/** A host's name as the value of a label; undefined when it cannot be one, and is then left out (statement 100). */
export function hostLabel(host: string): string | undefined {
  return /^[a-zA-Z0-9]([-._a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/.test(host) ? host : undefined;
}

function hostPart(host: string): string {
  const bent = host
    .toLowerCase()
    .replace(/[^-a-z0-9.]/g, "-")
    .slice(0, longestHostPart)
    .split(".")
    .map((label) => label.replace(/^-+|-+$/g, ""))
    .filter((label) => label !== "")
    .join(".");
  return bent === "" ? "host" : bent;
}

function joined(...texts: readonly string[]): Uint8Array {
  const parts = texts.map((text) => encoder.encode(text));
  const bytes = new Uint8Array(parts.reduce((size, part) => size + 2 + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes[offset] = part.length >>> 8;
    bytes[offset + 1] = part.length & 0xff;
    bytes.set(part, offset + 2);
    offset += 2 + part.length;
  }
  return bytes;
}

function base32(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += base32Digits[(buffer >>> (bits - 5)) & 31];
  }
  return bits > 0 ? text + base32Digits[(buffer << (5 - bits)) & 31] : text;
}
