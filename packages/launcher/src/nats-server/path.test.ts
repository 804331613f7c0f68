import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { candidatesOnPath, executablesAmong } from "./path.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tenure-path-"));
});
afterEach(() => rm(root, { recursive: true }));

test("candidates follow PATH's order, once each, without relative entries", () => {
  const path = ["/a", "relative", "", "/b", "/a", "."].join(delimiter);
  expect(candidatesOnPath(path, "linux")).toEqual(["/a/nats-server", "/b/nats-server"]);
  expect(candidatesOnPath(undefined, "linux")).toEqual([]);
  expect(candidatesOnPath("/a", "win32")).toEqual([join("/a", "nats-server.exe")]);
});

test("only files that may be executed count, each under its first name", async () => {
  for (const name of ["first", "plain", "second"]) await mkdir(join(root, name));
  await writeFile(join(root, "first", "nats-server"), "");
  await chmod(join(root, "first", "nats-server"), 0o755);
  await writeFile(join(root, "plain", "nats-server"), "");
  await symlink(join(root, "first", "nats-server"), join(root, "second", "nats-server"));
  const path = ["plain", "missing", "first", "second"].map((name) => join(root, name)).join(delimiter);
  const found = await executablesAmong(candidatesOnPath(path, "linux"));
  expect(found).toEqual([join(root, "first", "nats-server")]);
});
