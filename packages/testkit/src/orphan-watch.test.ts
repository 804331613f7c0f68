import { spawn } from "node:child_process";
import { on } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { inheritedEnvironment } from "@tenure/launcher";
import { expect, test } from "vitest";
import { processState } from "./process-state.ts";
import { tempDirectory } from "./temp-directory.ts";
import { waitFor } from "./wait-for.ts";

const testkit = new URL("../dist/index.js", import.meta.url).href;
const runner = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");

/** A test that starts a server and never ends. */
const hangingTest = `
import { startNats } from ${JSON.stringify(testkit)};
test("hangs", async () => {
  const server = await startNats();
  process.stdout.write("started " + JSON.stringify([process.pid, server.pid, server.directory]) + "\\n");
  await new Promise(() => setInterval(() => undefined, 1000));
}, 600_000);
`;

test.each(["SIGKILL", "SIGINT", "SIGTERM"] as const)(
  "a hanging test's worker, server and folder are gone when the runner ends by %s",
  async (signal) => {
    await using directory = await tempDirectory();
    await writeFile(join(directory.path, "hangs.test.mjs"), hangingTest);
    // Not on a leash: a leash would take the worker with the runner, and nothing would be shown.
    const run = spawn(process.execPath, [runner, "run", "--globals", "--pool=forks", "--root", directory.path], {
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      env: inheritedEnvironment(process.env),
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [worker, server, folder] = await startedIn(run.stdout);
    try {
      expect(await processState(server)).toBe("running");
      run.kill(signal);
      await waitFor(async () => (await processState(worker)) === "gone", { describe: "the worker to be gone" });
      await waitFor(async () => (await processState(server)) === "gone", { describe: "the server to be gone" });
      await waitFor(() => !existsSync(folder), { describe: "the folder to be gone" });
    } finally {
      run.kill("SIGKILL");
      if ((await processState(worker)) !== "gone") process.kill(worker, "SIGKILL");
    }
  },
);

async function startedIn(output: Readable): Promise<[worker: number, server: number, folder: string]> {
  for await (const [line] of on(createInterface({ input: output }), "line") as AsyncIterable<[string]>) {
    if (line.startsWith("started ")) return JSON.parse(line.slice("started ".length));
  }
  throw new Error("the test run ended before its server was started");
}
