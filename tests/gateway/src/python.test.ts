import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publicServices } from "@tenure/contracts";
import { type Deployment, startDeployment } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** Debian's own Python; another in the path has other packages. */
const python = "/usr/bin/python3";
const script = fileURLToPath(new URL("../python/client.py", import.meta.url));
const hasGrpc = spawnSync(python, ["-c", "import grpc, google.protobuf"]).status === 0;
const title = hasGrpc ? "" : " (skipped: apt-get install python3-grpcio python3-protobuf)";

let deployment: Deployment;

beforeAll(async () => {
  if (hasGrpc) deployment = await startDeployment();
}, 120_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 120_000);

describe.skipIf(!hasGrpc)(`a stock client in Python${title}`, () => {
  it("learns the API by reflection, acquires, keeps alive, watches and releases", async () => {
    const { stdout } = await promisify(execFile)(python, [script, deployment.grpc("gateway-1")], { timeout: 90_000 });
    const steps = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const [services, acquired, held, first, second, third, released, watched] = steps;
    expect(services?.names).toEqual(expect.arrayContaining(Object.keys(publicServices)));
    expect(acquired).toMatchObject({ step: "acquired", holder: "python" });
    expect(held).toMatchObject({ step: "held", code: "FAILED_PRECONDITION" });
    expect(held?.details).toContain("is held by python");
    for (const [at, renewed] of [first, second, third].entries()) {
      expect(renewed).toEqual({ step: "renewed", send_number: at + 1, failed: false });
    }
    expect(released).toEqual({ step: "released", released: [true] });
    expect(watched?.holders).toEqual(expect.arrayContaining(["python"]));
    expect(Array.isArray(watched?.holders) && watched.holders.at(-1)).toBe("");
  });
});
