import { fileURLToPath } from "node:url";
import { startScript, tempDirectory } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { launch } from "./launch.ts";

const example = fileURLToPath(new URL("../../../examples/leader.mjs", import.meta.url));

/** The token in a line such as `a leads with token 42`. */
const tokenIn = (line: string): bigint => BigInt(line.split(" ").at(-1) ?? "");

describe("the leader example, a stock gRPC client", () => {
  it("leads in one copy, and in the other with a greater token as soon as the first stops", async () => {
    await using folder = await tempDirectory();
    await using system = await launch(folder.path);
    await using first = startScript(example, { args: ["a", system.grpc] });
    const before = tokenIn(await first.waitForLine("a leads with token"));
    await using second = startScript(example, { args: ["b", system.grpc] });
    first.terminate();
    expect((await first.waitForExit()).code).toBe(0);
    expect(tokenIn(await second.waitForLine("b leads with token"))).toBeGreaterThan(before);
  }, 240_000);
});
