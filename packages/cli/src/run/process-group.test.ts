import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { endGroup, signalGroup } from "./process-group.ts";

/** Runs a script in a group of its own; gives the group and the number that it says. */
async function said(script: string) {
  const child = spawn("/bin/sh", ["-c", script], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  return { groupId: child.pid ?? 0, number: Number(line) };
}

it("a group has ended when nothing of it runs", async () => {
  const { groupId, number } = await said("trap '' TERM; sleep 600 & echo $!; wait");
  await endGroup(groupId);
  for (const pid of [groupId, number]) {
    const state = spawnSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim();
    expect(["", "Z"]).toContain(state);
  }
});

it.runIf(existsSync("/proc/self/stat"))("a zombie that nobody reaps is not waited for", async () => {
  // The shell becomes a program that knows of no children.
  const { groupId, number } = await said("setsid sh -c 'echo $$; exec sleep 600' & exec sleep 600");
  await endGroup(number);
  expect(signalGroup(number, 0), "the zombie is there").toBe(true);
  await endGroup(groupId);
});
