import { ConsensusRule, durationFromMs, HoldMode, type LeaseSpec } from "@tenure/contracts";
import { parseDuration } from "@tenure/kernel";
import type { LeaseSpecInput } from "@tenure/sdk";
import { usageFailure } from "../exit-code.ts";

/** The kind of a lease's document. */
export const leaseKindWord = "Lease";

/** What a lease's document asks for. */
export interface LeaseDocument {
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly spec: NonNullable<LeaseSpecInput>;
  /** The fields that it sets; the others keep what they have. */
  readonly fields: readonly string[];
}

type Reader = (value: unknown, field: string) => unknown;

const readers: Readonly<Partial<Record<keyof LeaseSpec, Reader>>> = {
  leaseDuration: duration,
  lockDelay: duration,
  drainBound: duration,
  minimumTerm: duration,
  coolDown: duration,
  fallbackDelay: duration,
  mode: (value, field) => choice(HoldMode, value, field),
  consensusRule: (value, field) => choice(ConsensusRule, value, field),
  capacity(value, field) {
    if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
    throw wrong(field, "must be a whole number above 0", value);
  },
  zonePreference(value, field) {
    if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
    throw wrong(field, "must be a list of texts", value);
  },
  labels: texts,
  annotations: texts,
};

/** The fields of a lease's `spec`. */
export const leaseFields: readonly string[] = Object.keys(readers);

/** Reads a lease's document; every mistake names its field. */
export function leaseDocumentOf(source: string, value: unknown): LeaseDocument {
  const document = mapping(value, source);
  only(document, ["apiVersion", "kind", "metadata", "spec"], source);
  if (document.apiVersion !== "tenure.dev/v1")
    throw wrong(`${source}: apiVersion`, "must be tenure.dev/v1", document.apiVersion);
  const metadata = mapping(document.metadata, `${source}: metadata`);
  only(metadata, ["namespace", "name"], `${source}: metadata`);
  const spec = mapping(document.spec ?? {}, `${source}: spec`);
  only(spec, leaseFields, `${source}: spec`);
  const fields = Object.keys(spec);
  const read = fields.map((field) => [
    field,
    readers[field as keyof LeaseSpec]?.(spec[field], `${source}: spec.${field}`),
  ]);
  return {
    lease: {
      namespace: text(metadata.namespace, `${source}: metadata.namespace`),
      name: text(metadata.name, `${source}: metadata.name`),
    },
    spec: Object.fromEntries(read),
    fields,
  };
}

function duration(value: unknown, field: string): unknown {
  if (typeof value === "string") return durationFromMs(parseDuration(value, field));
  throw wrong(field, "must be a duration such as 10s", value);
}

/** One of an enum's words, such as `exclusive`. */
function choice(of: Readonly<Record<string, number>>, value: unknown, field: string): number {
  const words = Object.keys(of).filter((name) => name !== "UNSPECIFIED" && name !== "UNRECOGNIZED");
  const name = String(value).toUpperCase().replaceAll("-", "_");
  const number = words.includes(name) ? of[name] : undefined;
  if (number !== undefined) return number;
  const allowed = words.map((one) => one.toLowerCase().replaceAll("_", "-")).join(", ");
  throw wrong(field, `must be one of ${allowed}`, value);
}

function texts(value: unknown, field: string): unknown {
  const record = mapping(value, field);
  const bad = Object.entries(record).find(([, one]) => typeof one !== "string");
  if (bad === undefined) return record;
  throw wrong(`${field}.${bad[0]}`, "must be a text; put it in quotes", bad[1]);
}

function text(value: unknown, field: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw wrong(field, "must be a text", value);
}

function mapping(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw wrong(field, "must be a mapping", value);
}

function only(record: Readonly<Record<string, unknown>>, known: readonly string[], field: string): void {
  const unknown = Object.keys(record).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw wrong(`${field}.${unknown}`, `is unknown; there are ${known.join(", ")}`, record[unknown]);
}

function wrong(field: string, rule: string, value: unknown): Error {
  return usageFailure(`${field} ${rule} (got ${JSON.stringify(value)})`);
}
