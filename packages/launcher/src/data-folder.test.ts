import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDataFolder } from "./data-folder.ts";

const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), "tenure-data-"));

describe("openDataFolder", () => {
  it("remembers that init has been through, until a fresh start", () => {
    const path = temporaryFolder();
    openDataFolder(path, false).markInitialised();
    expect(openDataFolder(path, false).isInitialised).toBe(true);
    expect(openDataFolder(path, true).isInitialised).toBe(false);
  });

  it("refuses a folder that another living process uses, and names the process", () => {
    const path = temporaryFolder();
    writeFileSync(join(path, "launcher.pid"), String(process.ppid));
    expect(() => openDataFolder(path, false)).toThrow(`in use by another start (process ${process.ppid})`);
    expect(() => openDataFolder(path, true)).toThrow("in use by another start");
  });

  it("takes over a folder whose process is gone", () => {
    const path = temporaryFolder();
    writeFileSync(join(path, "launcher.pid"), String(2 ** 30));
    openDataFolder(path, false).release();
    expect(existsSync(join(path, "launcher.pid"))).toBe(false);
  });

  it("does not delete a folder that holds something else", () => {
    const path = temporaryFolder();
    mkdirSync(join(path, "photos"));
    expect(() => openDataFolder(path, true)).toThrow("does not look like a data folder of Tenure");
    expect(existsSync(join(path, "photos"))).toBe(true);
  });
});
