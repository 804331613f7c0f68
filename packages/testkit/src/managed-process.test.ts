import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startProcess } from "./managed-process.ts";
import { processState } from "./process-state.ts";
import { startScript, startService } from "./service.ts";
import { tempDirectory } from "./temp-directory.ts";
import { waitFor } from "./wait-for.ts";

const shell = "/bin/sh";

describe("a process under test", () => {
  test("gives its lines of both streams, its last one without an end too, and its exit code", async () => {
    await using process = startProcess(shell, { args: ["-c", "echo one; echo two >&2; printf three; exit 7"] });
    expect(await process.waitForExit()).toEqual({ code: 7, signal: null });
    expect([...process.output.all].sort()).toEqual(["one", "three", "two"]);
  });

  test("is waited on for a line that came before or comes later", async () => {
    await using process = startProcess(shell, { args: ["-c", "echo early; echo later 42; exec sleep 60"] });
    expect(await process.waitForLine(/later (\d+)/)).toBe("later 42");
    expect(await process.waitForLine("early")).toBe("early");
  });

  test("that ends without the line fails the wait at once, with its exit code and its last lines", async () => {
    await using process = startProcess(shell, { name: "a service", args: ["-c", "echo broken; exit 3"] });
    await expect(process.waitForLine("ready")).rejects.toThrow(
      /a service \(process \d+\): waited for a line with ready, but it ended with exit code 3; its last lines:\nbroken/,
    );
  });

  test("that says nothing fails the wait after its bound", async () => {
    await using process = startProcess("sleep", { args: ["60"] });
    await expect(process.waitForLine("ready", { timeoutMs: 10 })).rejects.toThrow("did not come within 10 ms");
    await expect(process.waitForExit({ timeoutMs: 10 })).rejects.toThrow("did not come within 10 ms");
  });

  test("that does not exist says so", async () => {
    await using process = startProcess("/nowhere/program");
    expect(await process.waitForExit()).toEqual({ code: 127, signal: null });
    expect(process.output.tail()).toContain("/nowhere/program");
  });

  test("stands still when paused, runs on when resumed, and is killed while it stands still", async () => {
    await using process = startProcess("sleep", { args: ["60"] });
    await process.pause();
    expect(await processState(process.pid)).toBe("stopped");
    process.resume();
    await waitFor(async () => (await processState(process.pid)) === "running");
    await process.pause();
    expect(await process.kill9()).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("is asked to stop in order, also when it is paused, and is killed when it does not listen", async () => {
    const trap = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    await using polite = startProcess(shell, { args: ["-c", trap] });
    await polite.waitForLine("ready");
    await polite.pause();
    expect(await polite.stop()).toEqual({ code: 0, signal: null });
    expect(polite.output.all.at(-1)).toBe("bye");
    await using deaf = startProcess(shell, { args: ["-c", "trap '' TERM; echo ready; while :; do sleep 0.01; done"] });
    await deaf.waitForLine("ready");
    expect(await deaf.stop(1)).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("takes what it started with it when it ends", async () => {
    await using process = startProcess(shell, { args: ["-c", "sleep 60 & echo child $!; exit 0"] });
    const child = Number((await process.waitForLine("child")).split(" ")[1]);
    await process.waitForExit();
    await waitFor(async () => (await processState(child)) === "gone", { describe: "the child to be gone" });
  });

  test("gets what it is given on top of what it inherits", async () => {
    await using process = startProcess(shell, {
      args: ["-c", "echo $TENURE_MODE"],
      env: { TENURE_MODE: "development" },
    });
    await process.waitForLine("development");
  });

  test("may be a Node script with arguments", async () => {
    await using directory = await tempDirectory();
    const script = join(directory.path, "script.mjs");
    await writeFile(script, "process.stdout.write(process.argv.slice(2).join('+')); process.exitCode = 4;");
    await using process = startScript(script, { args: ["a", "b"] });
    expect(await process.waitForExit()).toEqual({ code: 4, signal: null });
    expect(process.output.all).toEqual(["a+b"]);
  });

  test("of a service that was not built names the file", async () => {
    await using process = startService("no-such-service");
    expect((await process.waitForExit()).code).toBe(1);
    expect(process.output.all.join("\n")).toContain("services/no-such-service/dist/main.js");
  });
});
