import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { processState } from "./process-state.ts";
import { waitFor } from "./wait-for.ts";

/** A test run in a process of its own: a server, a service with a child, one of them paused. Never disposes anything. */
const runner = `
import { startNats, startProcess, tempDirectory } from "@tenure/testkit";
const server = await startNats();
const paused = await startNats();
await paused.pause();
const service = startProcess("/bin/sh", { args: ["-c", "trap '' TERM INT HUP; sleep 600 & echo child $!; wait"] });
const child = Number((await service.waitForLine("child")).split(" ")[1]);
const directory = await tempDirectory();
process.stdout.write(JSON.stringify({
  pids: [server.pid, paused.pid, service.pid, child],
  directories: [server.directory, paused.directory, directory.path],
}) + "\\n");
setInterval(() => undefined, 1000);
`;

test.each<NodeJS.Signals>(["SIGKILL", "SIGINT", "SIGTERM"])(
  "all processes and folders of a test run are gone when it ends by %s",
  async (signal) => {
    const run = spawn(process.execPath, ["--input-type=module", "-e", runner], {
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(run, "exit");
    const [line] = (await once(createInterface({ input: run.stdout }), "line")) as [string];
    const { pids, directories } = JSON.parse(line) as { readonly pids: number[]; readonly directories: string[] };
    for (const pid of pids) expect(await processState(pid)).not.toBe("gone");
    for (const directory of directories) expect(existsSync(directory)).toBe(true);
    run.kill(signal);
    await exited;
    for (const pid of pids) {
      await waitFor(async () => (await processState(pid)) === "gone", { describe: `process ${pid} to be gone` });
    }
    for (const directory of directories) {
      await waitFor(() => !existsSync(directory), { describe: `${directory} to be gone` });
    }
  },
);
