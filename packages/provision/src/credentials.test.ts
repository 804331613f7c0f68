import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { userKeyOf } from "@tenure/log";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCredentials } from "./credentials.ts";
import { users } from "./topology.ts";

let directory: string;
beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), "tenure-credentials-")), "new");
});
afterEach(() => rm(join(directory, ".."), { recursive: true, force: true }));

describe("createCredentials", () => {
  it("makes a seed file for each user that only its owner can read", async () => {
    const credentials = await createCredentials(directory);
    expect(credentials.map(({ user, created }) => [user, created])).toEqual(users.map((user) => [user, true]));
    expect((await readdir(directory)).sort()).toEqual(users.map((user) => `${user}.nk`).sort());
    for (const { path, publicKey } of credentials) {
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(userKeyOf(await readFile(path, "utf8")).publicKey).toBe(publicKey);
    }
    expect(new Set(credentials.map(({ publicKey }) => publicKey)).size).toBe(users.length);
  });

  it("keeps the seeds that exist, closes them to others, and adds those that are missing", async () => {
    const first = await createCredentials(directory);
    await rm(join(directory, "election.nk"));
    await chmod(join(directory, "gateway.nk"), 0o644);
    const second = await createCredentials(directory);
    for (const { user, publicKey, created, path } of second) {
      const before = first.find((credential) => credential.user === user)?.publicKey;
      expect([user, created]).toEqual([user, user === "election"]);
      if (user !== "election") expect(publicKey).toBe(before);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    }
  });

  it("agrees with others that run at the same time", async () => {
    const runs = await Promise.all([1, 2, 3].map(() => createCredentials(directory)));
    const keys = runs.map((run) => run.map(({ publicKey }) => publicKey).join());
    expect(new Set(keys).size).toBe(1);
  });

  it("refuses a file that is no seed by its name, and never overwrites it", async () => {
    await createCredentials(directory);
    const path = join(directory, "gateway.nk");
    await writeFile(path, "a treasure");
    const fault = await createCredentials(directory).catch((thrown) => thrown);
    expect(fault).toMatchObject({ code: "FAILED_PRECONDITION", reason: "NKEY_SEED_INVALID" });
    expect(fault.message).toContain(path);
    expect(fault.message).not.toContain("treasure");
    expect(await readFile(path, "utf8")).toBe("a treasure");
  });
});
