import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDirectory } from "./temp-directory.ts";

test("a temporary folder is gone with all it holds when it is disposed", async () => {
  const directory = await tempDirectory();
  await mkdir(join(directory.path, "a", "b"), { recursive: true });
  await writeFile(join(directory.path, "a", "b", "file"), "text");
  await directory[Symbol.asyncDispose]();
  expect(existsSync(directory.path)).toBe(false);
});
