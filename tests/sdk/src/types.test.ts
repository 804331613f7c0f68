import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** What an application writes; the last two lines must not compile. */
const application = `
import { connect, isTenureError, TermEnded, type Observation, type Term, type Tenure } from "@tenure/sdk";

export async function work(tenure: Tenure): Promise<bigint | undefined> {
  return await tenure.lead("a/b", { once: true, leaseDuration: "15s" }, async (term: Term) => term.token);
}

export function why(ended: TermEnded): string {
  switch (ended.end.kind) {
    case "released": case "stopped": case "expired": return ended.end.kind;
    case "end-of-term": return ended.end.successor;
    case "unreachable": return ended.end.cause.reason;
    case "preempted": return ended.end.how;
  }
}

export function show(seen: Observation): string {
  return seen.kind === "leader" ? seen.holder : String(seen.lastToken);
}

export async function held(): Promise<string | undefined> {
  const tenure = await connect({ endpoint: "127.0.0.1:8368" });
  try {
    await tenure.lock("a/b", { wait: false });
  } catch (error) {
    if (isTenureError(error) && error.reason === "LEASE_HELD") return error.details.holder;
    throw error;
  }
  return undefined;
}

// @ts-expect-error: a wait is a boolean or a duration
export const wrong = (tenure: Tenure) => tenure.lock("a/b", { wait: {} });
// @ts-expect-error: there is no such end
export const none = (ended: TermEnded) => ended.end.kind === "vanished";
`;

/** The ways of module resolution that applications have. */
const resolutions = [
  ["node16", { module: "node16", moduleResolution: "node16" }],
  ["nodenext", { module: "nodenext", moduleResolution: "nodenext" }],
  ["bundler", { module: "esnext", moduleResolution: "bundler" }],
  // Declarations of libraries are checked above; not all of them are made for this option.
  ["exact", { module: "nodenext", exactOptionalPropertyTypes: true, skipLibCheck: true }],
] as const;

describe("the SDK's types", () => {
  it.each(resolutions)("resolve and check under %s", (name, options) => {
    const folder = fileURLToPath(new URL(`../.results/types-${name}`, import.meta.url));
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(join(folder, "application.ts"), application);
    const compilerOptions = {
      ...options,
      target: "es2022",
      lib: ["es2023", "esnext.disposable", "esnext.collection"],
      types: ["node"],
      strict: true,
      noEmit: true,
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["application.ts"] }));
    const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
    expect(stdout).toBe("");
  });

  it("come first in the exports of the package, which is ESM without side effects", () => {
    const { exports, type, sideEffects } = JSON.parse(readFileSync(join(root, "packages/sdk/package.json"), "utf8"));
    expect({ type, sideEffects }).toEqual({ type: "module", sideEffects: false });
    for (const conditions of Object.values(exports)) expect(Object.keys(conditions as object)[0]).toBe("types");
  });
});
