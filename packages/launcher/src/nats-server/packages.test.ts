import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { unpackPackages } from "./packages.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tenure-packages-"));
  await mkdir(join(root, "bin"));
  vi.stubEnv("PATH", `${join(root, "bin")}:/usr/bin:/bin`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(root, { recursive: true });
});

/** Debian's own, without which nothing of it is trusted. */
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** Stand-ins for apt: one package that is there, and archives that hold a file of their own name. */
const programs = {
  "apt-get": 'for last; do :; done\ncase "$*" in *download*) touch server_1.deb library_1.deb ;; esac',
  "apt-cache": 'echo "Version: 1:3.5.30-2"',
  "dpkg-deb": 'mkdir -p "$3/usr/share"\ntouch "$3/usr/share/$(basename "$2")"',
};

async function install(): Promise<void> {
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(root, "bin", name), `#!/bin/sh\n${script}\n`);
    await chmod(join(root, "bin", name), 0o755);
  }
}

function request(osRelease: string) {
  return {
    environment: { TENURE_CACHE_DIR: join(root, "cache") },
    report: () => {},
    machine: { platform: "linux", osRelease } as const,
    name: "server",
    packages: ["server", "library"] as const,
  };
}

describe("packages beside the system", () => {
  test.skipIf(!existsSync(keyring))(
    "are unpacked together into the cache under the first one's version, and found there again",
    async () => {
      await install();
      const first = await unpackPackages(request("ID=debian\nVERSION_CODENAME=bookworm\n"));
      expect(first).toEqual({ directory: join(root, "cache", "server-3.5.30"), version: "3.5.30" });
      expect(await readdir(join(first.directory, "usr/share"))).toEqual(["library_1.deb", "server_1.deb"]);
      expect(await readdir(join(root, "cache"))).toEqual(["server-3.5.30"]);
      await rm(join(root, "bin"), { recursive: true });
      expect(await unpackPackages(request(""))).toEqual(first);
    },
  );

  test("are the newest of those in the cache", async () => {
    for (const entry of ["server-3.4.23", "server-3.10.1", "other-9.0.0"]) {
      await mkdir(join(root, "cache", entry), { recursive: true });
    }
    expect((await unpackPackages(request(""))).version).toBe("3.10.1");
  });

  test("are not to be had elsewhere than on Debian and Ubuntu", async () => {
    await expect(unpackPackages(request("ID=fedora\n"))).rejects.toThrow("server is taken from Debian or Ubuntu");
  });
});
