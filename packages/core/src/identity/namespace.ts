import { type LeaseKey, namespaceOf } from "../key.ts";

/** Where identities live unless the deployment says otherwise. */
export const defaultIdentityNamespace = "tenure-identities";

/** A namespace that is kept for identities. */
export const identityNamespacePattern = {
  expression: /^(?=.{1,63}$)tenure-identities(-[a-z0-9]([-a-z0-9]*[a-z0-9])?)?$/,
  rule: "must be tenure-identities, or that with -<name> after it, and at most 63 characters long",
};

/** Whether a namespace is kept for identities: the default one, or one that goes on after it with `-` and a name. */
export function isIdentityNamespace(namespace: string): boolean {
  return identityNamespacePattern.expression.test(namespace);
}

/**
 * Whether a lease is an identity's. Nobody acts by the strength of such a term alone, so its L may be longer than that
 * of others, and a restored partition need not wait for it.
 */
export function isIdentityLease(lease: LeaseKey): boolean {
  return lease.startsWith(defaultIdentityNamespace) && isIdentityNamespace(namespaceOf(lease));
}
