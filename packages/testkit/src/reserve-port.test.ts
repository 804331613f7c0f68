import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { reservePort } from "./reserve-port.ts";

/** No test is ever given a port below 1,024. */
const port = 7;
const path = join(tmpdir(), `tenure-test-ports-${userInfo().uid}`, String(port));

afterEach(() => rmSync(path, { force: true }));

test("a port is reserved once, for the process that asked first", () => {
  expect(reservePort(port)).toBe(true);
  expect(reservePort(port)).toBe(false);
  expect(Number(readFileSync(path, "utf8"))).toBe(process.pid);
});

test("a port whose process is gone can be reserved again, and one of a process that lives cannot", () => {
  expect(reservePort(port)).toBe(true);
  writeFileSync(path, String(process.ppid));
  expect(reservePort(port)).toBe(false);
  const { pid } = spawnSync(process.execPath, ["--version"]);
  writeFileSync(path, String(pid));
  expect(reservePort(port)).toBe(true);
});
