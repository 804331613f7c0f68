import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
}

function manifest(path: string): Manifest {
  return JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8"));
}

/** A package's own name and those of all packages of the repository that it stands on. */
function withDependencies(name: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const other of Object.keys(manifest(`packages/${name}/package.json`).dependencies ?? {})) {
    if (other.startsWith("@tenure/")) withDependencies(other.slice("@tenure/".length), found);
  }
  return found;
}

describe("npm run pack:sdk", () => {
  const needed = withDependencies("sdk");

  it("packs the SDK and everything that it stands on", () => {
    const packed = [...(manifest("package.json").scripts?.["pack:sdk"] ?? "").matchAll(/-w packages\/([\w-]+)/g)];
    expect(new Set(packed.map(([, name]) => name))).toEqual(needed);
  });

  it.each([...needed])("finds what was built of %s, which git ignores", (name) => {
    expect(manifest(`packages/${name}/package.json`).files).toContain("dist");
  });
});
