import { createHash } from "node:crypto";
import type { MigrationConfiguration } from "./configuration.ts";

/** Digest of what a configuration means: equal for documents that differ in form, order or API version only. */
export function digestOf({ controllerLeaders, name }: MigrationConfiguration): Uint8Array {
  const entries = controllerLeaders
    .map((leader) => [leader.name, leader.component, canonicalRange(leader.versionRange)] as const)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return sha256(JSON.stringify(["tenure.migration.v1", name, entries]));
}

/** Digest of all configurations of a component: none is empty, one is its own. */
export function digestOfAll(configurations: readonly MigrationConfiguration[]): Uint8Array {
  const digests = configurations.map(digestOf);
  const [first] = digests;
  if (first === undefined) return new Uint8Array(0);
  if (digests.length === 1) return first;
  const texts = digests.map((digest) => Buffer.from(digest).toString("hex")).sort();
  return sha256(JSON.stringify(["tenure.migrations.v1", texts]));
}

function canonicalRange(range: string): string {
  const tests = range.split(/\s+/).filter((test) => test !== "");
  return tests
    .map((test) => (/^[<>=]/.test(test) ? test : `=${test}`))
    .sort()
    .join(" ");
}

function sha256(text: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(text).digest());
}
