import { checkLeaseKey } from "@tenure/core";
import { TenureError } from "../errors.ts";

/** The name of a lease. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** A lease by name: `namespace/name`, a bare name in the client's default namespace, or both as an object. */
export type LeaseInput = string | { readonly namespace?: string | undefined; readonly name: string };

/** Reads a lease's name; throws INVALID_ARGUMENT with every broken rule. */
export function leaseNameOf(input: LeaseInput, defaultNamespace: string | undefined): LeaseName {
  const { namespace, name } = split(input);
  const lease = { namespace: namespace ?? defaultNamespace ?? "", name };
  const violations = checkLeaseKey(`${lease.namespace}/${lease.name}`);
  const [first] = violations;
  if (first === undefined) return lease;
  const message =
    lease.namespace === ""
      ? `lease ${JSON.stringify(lease.name)} needs a namespace: say "namespace/name", or give connect a default namespace`
      : violations.map(({ field, rule, value }) => `${field} ${rule} (got ${value})`).join("; ");
  throw new TenureError({ code: "INVALID_ARGUMENT", reason: "INVALID_FIELD", message, details: { violations } });
}

/** The name as one text, `namespace/name`. */
export function showLease({ namespace, name }: LeaseName): string {
  return `${namespace}/${name}`;
}

function split(input: LeaseInput): { readonly namespace: string | undefined; readonly name: string } {
  if (typeof input !== "string") return { namespace: input.namespace, name: input.name };
  const slash = input.indexOf("/");
  return slash < 0
    ? { namespace: undefined, name: input }
    : { namespace: input.slice(0, slash), name: input.slice(slash + 1) };
}
