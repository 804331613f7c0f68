import type { LeaseSpec, StoredLease } from "@tenure/core";
import { LeaseSpec as WireSpec } from "../../gen/tenure/v1/lease_record.ts";
import { leaseSpecToWire } from "../value/lease-spec.ts";
import { hexOf } from "../value/text.ts";

/** How many specs one record takes. */
export const specsPerRecord = 256;

/** The specs of a snapshot, each once, and where each lease finds its own. */
export interface SpecTable {
  readonly specs: readonly WireSpec[];
  /** From 1. The defaults have a place like all others: another version may have other defaults. */
  readonly placeOf: (spec: LeaseSpec) => number;
}

/**
 * Collects the specs of all leases. Equal ones are one by what they say and not by which object they are, so that
 * replicas with equal state write equal snapshots.
 */
export function collectSpecs(leases: readonly StoredLease[]): SpecTable {
  const specs: WireSpec[] = [];
  const places = new Map<LeaseSpec, number>();
  const byContent = new Map<string, number>();
  for (const { spec } of leases) {
    if (places.has(spec)) continue;
    const wire = leaseSpecToWire(spec);
    const content = contentOf(wire);
    const known = byContent.get(content);
    if (known === undefined) {
      specs.push(wire);
      byContent.set(content, specs.length);
    }
    places.set(spec, known ?? specs.length);
  }
  return { specs, placeOf: (spec) => places.get(spec) ?? 0 };
}

function contentOf(spec: WireSpec): string {
  return hexOf(WireSpec.encode(spec).finish());
}
