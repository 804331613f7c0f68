import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDataFolder } from "./data-folder.ts";
import { startOf } from "./process-alive.ts";

const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), "tenure-data-"));

describe("openDataFolder", () => {
  it("remembers that init has been through, until a fresh start", () => {
    const path = temporaryFolder();
    const first = openDataFolder(path, false);
    first.markInitialised();
    first.release();
    const second = openDataFolder(path, false);
    expect(second.isInitialised).toBe(true);
    second.release();
    expect(openDataFolder(path, true).isInitialised).toBe(false);
  });

  it("forgets only what a start has made, whatever else is in the folder", () => {
    const path = temporaryFolder();
    for (const folder of ["nats", "credentials", "photos"]) mkdirSync(join(path, folder));
    for (const file of ["nats.conf", "initialised", "notes.txt"]) writeFileSync(join(path, file), "text");
    openDataFolder(path, true).release();
    const left = ["nats", "credentials", "nats.conf", "initialised", "photos", "notes.txt"].filter((name) =>
      existsSync(join(path, name)),
    );
    expect(left).toEqual(["photos", "notes.txt"]);
  });

  it("refuses a folder that another living process uses, and names the process", () => {
    const path = temporaryFolder();
    writeFileSync(join(path, "launcher.pid"), `${process.ppid} ${startOf(process.ppid)}`);
    for (const fresh of [false, true]) {
      expect(() => openDataFolder(path, fresh)).toThrow(`in use by another start (process ${process.ppid})`);
    }
  });

  it.each([
    ["an empty lock", ""],
    ["the lock of a process that is gone", String(2 ** 30)],
    ["the lock of an earlier process with the id of a living one", `${process.ppid} 1`],
    ["a lock that is no lock", "hello"],
  ])("takes over %s", (_title, text) => {
    const path = temporaryFolder();
    writeFileSync(join(path, "launcher.pid"), text);
    const folder = openDataFolder(path, false);
    expect(readFileSync(join(path, "launcher.pid"), "utf8")).toBe(`${process.pid} ${startOf(process.pid)}`);
    folder.release();
    expect(existsSync(join(path, "launcher.pid"))).toBe(false);
  });

  it("refuses a path that is a file", () => {
    const path = join(temporaryFolder(), "file");
    writeFileSync(path, "text");
    expect(() => openDataFolder(path, false)).toThrow(`${path} cannot be made a data folder (EEXIST)`);
  });
});
