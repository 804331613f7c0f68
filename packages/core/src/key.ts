import type { FieldViolation } from "@tenure/kernel";

/** A lease's name as one text, `namespace/name`. One string rather than two keeps an idle lease small. */
export type LeaseKey = string;

const label = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const subdomain = `${label}(?:\\.${label})*`;
const namespacePattern = new RegExp(`^${label}$`);
const namePattern = new RegExp(`^${subdomain}(?::${subdomain})*$`);
const candidatePattern = /^[-._a-zA-Z0-9]+$/;
const guardedPattern = /^[-._/a-zA-Z0-9]+$/;

/** Longest namespace in bytes: a DNS-1123 label. */
export const maximumNamespaceBytes = 63;
/** Longest lease, candidate or guarded name in bytes: a DNS-1123 subdomain. */
export const maximumNameBytes = 253;

/** The key of a lease. Checks nothing: see {@link checkLeaseKey}. */
export function leaseKey(namespace: string, name: string): LeaseKey {
  return `${namespace}/${name}`;
}

/** The namespace of a key. */
export function namespaceOf(key: LeaseKey): string {
  return key.slice(0, Math.max(0, key.indexOf("/")));
}

/** The name of a key, without its namespace. */
export function nameOf(key: LeaseKey): string {
  return key.slice(key.indexOf("/") + 1);
}

/** Namespaces that belong to the system itself: they are shown only to those who name them, and count for nobody. */
const systemPrefix = "tenure-";

/** Whether a namespace, or the lease of a key, is the system's own. */
export function isOfSystem(namespaceOrKey: string): boolean {
  return namespaceOrKey.startsWith(systemPrefix);
}

/** Every broken rule of a lease's key; empty when it is legal. */
export function checkLeaseKey(key: LeaseKey, field = "lease"): readonly FieldViolation[] {
  const violations: FieldViolation[] = [];
  const namespace = namespaceOf(key);
  if (namespace.length > maximumNamespaceBytes || !namespacePattern.test(namespace)) {
    const rule = `must be a DNS-1123 label of 1 to ${maximumNamespaceBytes} bytes`;
    violations.push({ field: `${field}.namespace`, rule, value: JSON.stringify(namespace.slice(0, 80)) });
  }
  const name = nameOf(key);
  if (name.length > maximumNameBytes || !namePattern.test(name)) {
    const rule = `must be a DNS-1123 subdomain, optionally with further parts after ':', of 1 to ${maximumNameBytes} bytes`;
    violations.push({ field: `${field}.name`, rule, value: JSON.stringify(name.slice(0, 80)) });
  }
  return violations;
}

/** Every broken rule of a candidate's own name. Upper case and `_` are legal, because host names become candidates. */
export function checkCandidateName(name: string, field = "candidate.name"): readonly FieldViolation[] {
  const legal =
    name.length <= maximumNameBytes && candidatePattern.test(name) && name !== "." && !name.startsWith("..");
  if (legal) return [];
  const rule = `must be 1 to ${maximumNameBytes} bytes of [-._a-zA-Z0-9], not '.', and not begin with '..'`;
  return [{ field, rule, value: JSON.stringify(name.slice(0, 80)) }];
}

/** Every broken rule of a guarded value's key. */
export function checkGuardedKey(key: string, field = "key"): readonly FieldViolation[] {
  if (key.length <= maximumNameBytes && guardedPattern.test(key)) return [];
  const rule = `must be 1 to ${maximumNameBytes} bytes of [-._/a-zA-Z0-9]`;
  return [{ field, rule, value: JSON.stringify(key.slice(0, 80)) }];
}
