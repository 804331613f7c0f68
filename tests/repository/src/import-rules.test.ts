import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** A copy of the repository's rules with two packages and a service in it, to break them in. */
let copy: string;

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), "tenure-rules-"));
  for (const file of ["package.json", "turbo.json", "biome.json", "scripts/lint"]) {
    cpSync(join(root, file), join(copy, file), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  for (const folder of ["packages/kernel", "packages/bus", "packages/runtime", "services/gateway"]) {
    for (const file of ["package.json", "turbo.json"]) cpSync(join(root, folder, file), join(copy, folder, file));
  }
  spawnSync("git", ["init", "-q", copy]);
});
afterEach(() => rmSync(copy, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  writeFileSync(join(copy, file), text);
}

function run(program: "biome" | "turbo", args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(join(root, "node_modules/.bin", program), args, {
    cwd: copy,
    encoding: "utf8",
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", NO_COLOR: "1" },
  });
  return { status, output: `${stdout}${stderr}` };
}

describe("lint", () => {
  it("passes a file that keeps the rules", () => {
    write(
      "packages/bus/src/good.ts",
      'import { connect } from "@nats-io/transport-node";\n\nexport const dial = connect;\n',
    );
    expect(run("biome", ["lint", "packages/bus/src/good.ts"])).toMatchObject({ status: 0 });
  });

  it.each([
    [
      "the NATS client in runtime",
      "packages/runtime/src/bad.ts",
      'export { connect } from "@nats-io/transport-node";',
      "only packages/bus and packages/log speak to the NATS client",
    ],
    [
      "the NATS client in the gateway",
      "services/gateway/src/bad.ts",
      'export { connect } from "@nats-io/transport-node";',
      "only packages/bus and packages/log speak to the NATS client",
    ],
    [
      "gRPC in the bus",
      "packages/bus/src/bad.ts",
      'export { Server } from "@grpc/grpc-js";',
      "only services/gateway imports the gRPC library",
    ],
    [
      "the testkit in a service",
      "services/gateway/src/bad.ts",
      'export { startNats } from "@tenure/testkit";',
      "tests only",
    ],
    [
      "an undeclared dependency",
      "packages/kernel/src/bad.ts",
      'export { pino } from "pino";',
      "isn't specified in packages/kernel/package.json",
    ],
    [
      "the system clock",
      "packages/runtime/src/bad.ts",
      "export const now = () => Date.now();",
      "take a Clock or Random from @tenure/kernel",
    ],
    [
      "a timer of its own",
      "packages/runtime/src/bad.ts",
      "export const later = () => setTimeout(() => {}, 5);",
      "take a Clock or Random from @tenure/kernel",
    ],
    [
      "chance of its own",
      "packages/bus/src/bad.ts",
      "export const dice = () => Math.random();",
      "take a Clock or Random from @tenure/kernel",
    ],
    ["printing in a service", "services/gateway/src/bad.ts", 'console.log("hello");', "noConsole"],
  ])("fails on %s", (_title, file, text, complaint) => {
    write(file, `${text}\n`);
    const { status, output } = run("biome", ["lint", file]);
    expect(output.replace(/\s+/g, " ")).toContain(complaint);
    expect(status).not.toBe(0);
  });
});

describe("turbo boundaries", () => {
  it("fails on a package that depends on what it may not", () => {
    const file = join(copy, "packages/kernel/package.json");
    const manifest = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...manifest, dependencies: { "@tenure/bus": "0.1.0" } }));
    const { status, output } = run("turbo", ["boundaries"]);
    expect(output.replace(/[\s|│]+/g, " ")).toContain(
      "`@tenure/bus` found without any tag listed in allowlist for `@tenure/kernel`",
    );
    expect(status).not.toBe(0);
  });

  it("passes the repository as it is", () => {
    const { status, stdout, stderr } = spawnSync(join(root, "node_modules/.bin/turbo"), ["boundaries"], {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1" },
    });
    expect(`${stdout}${stderr}`).toContain("no issues found");
    expect(status).toBe(0);
  });
});
