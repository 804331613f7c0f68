import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tenure/kernel";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type DebianRequest, obtainFromDebian } from "./debian.ts";
import type { Distribution } from "./distribution.ts";

let root: string;
let lines: string[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tenure-debian-"));
  lines = [];
  await writeFile(join(root, "keyring.gpg"), "");
  await mkdir(join(root, "bin"));
  await program("apt-get", aptGet);
  await program("apt-cache", aptCache);
  await program("dpkg-deb", dpkgDeb);
  vi.stubEnv("PATH", `${join(root, "bin")}:/usr/bin:/bin`);
  vi.stubEnv("FAKE_ROOT", root);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(root, { recursive: true });
});

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(root, "bin", name), `#!/bin/sh\n${script}`);
  await chmod(join(root, "bin", name), 0o755);
}

/** Stand-ins for apt that know packages as files `<suite>` under FAKE_ROOT/archive, on one mirror that answers. */
const aptGet = `
suite=$(sed -n 's/^Suites: //p' sources/*.sources 2>/dev/null)
mirror=$(sed -n 's/^URIs: //p' sources/*.sources 2>/dev/null)
for last; do :; done
case "$1 $last" in
  indextargets*) echo 'Debian|http://silent.example/debian/|bookworm' ;;
  *" update")
    echo "$mirror $suite" >> "$FAKE_ROOT/updates"
    echo 'dlstatus:1:50.0:Retrieving' >&3
    [ "$mirror" = http://answers.example/debian ] || { echo 'E: could not connect' >&2; exit 100; } ;;
  *" nats-server") touch nats-server_1_amd64.deb ;;
esac
`;
const aptCache = `
suite=$(sed -n 's/^Suites: //p' sources/*.sources)
[ -e "$FAKE_ROOT/archive/$suite" ] && echo "Version: $(cat "$FAKE_ROOT/archive/$suite")"
exit 0
`;
const dpkgDeb = `
mkdir -p "$3/usr/sbin"
printf '#!/bin/sh\\necho "nats-server: v2.0.0"\\n' > "$3/usr/sbin/nats-server"
chmod 755 "$3/usr/sbin/nats-server"
`;

async function request(archive: Record<string, string>, change: Partial<DebianRequest> = {}): Promise<DebianRequest> {
  await mkdir(join(root, "archive"));
  for (const [suite, version] of Object.entries(archive)) await writeFile(join(root, "archive", suite), version);
  const distribution: Distribution = {
    family: "debian",
    origin: "Debian",
    codename: "bookworm",
    suites: ["unstable", "testing", "stable"],
    component: "main",
    keyrings: [join(root, "missing.gpg"), join(root, "keyring.gpg")],
    defaultMirror: "http://answers.example/debian",
  };
  return {
    distribution,
    accepts: (version) => version.startsWith("2.1"),
    cacheDirectory: join(root, "cache"),
    report: (line) => lines.push(line),
    clock: systemClock,
    ...change,
  };
}

async function updates(): Promise<string[]> {
  return (await readFile(join(root, "updates"), "utf8")).trim().split("\n");
}

describe("the distribution's package", () => {
  test("comes from the newest suite that has an accepted version, and nothing else stays", async () => {
    const found = await obtainFromDebian(
      await request({ unstable: "2.9.10-1", testing: "2.15.1-1", stable: "2.10.27-1+b2" }),
    );
    expect(found).toEqual({ version: "2.15.1", path: join(root, "cache/nats-server-2.15.1/nats-server") });
    expect(await readdir(join(root, "cache"))).toEqual(["nats-server-2.15.1"]);
    expect(lines).toContain(
      "Debian unstable was passed over: its nats-server is 2.9.10-1, which is not a version asked for",
    );
    expect(lines).toContain("downloading nats-server 2.15.1-1 from Debian testing");
    expect(lines).toContain("package list of Debian testing: 50 %");
  });

  test("is looked for on the machine's own mirror first, then on the distribution's", async () => {
    await obtainFromDebian(await request({ unstable: "2.15.1-1" }));
    expect(await updates()).toEqual([
      "http://silent.example/debian unstable",
      "http://silent.example/debian testing",
      "http://silent.example/debian stable",
      "http://answers.example/debian unstable",
    ]);
  });

  test("of the suites that are asked for is preferred over newer ones", async () => {
    const wanted = await request({ unstable: "2.15.1-1", trixie: "2.10.27-1" }, { suites: ["trixie"] });
    expect((await obtainFromDebian(wanted)).version).toBe("2.10.27");
  });

  test("that no suite has is a fault that says what each one had", async () => {
    const attempt = obtainFromDebian(await request({ unstable: "2.9.10-1" }));
    await expect(attempt).rejects.toThrow(
      /^no suite of Debian gave a usable nats-server \(.*unstable: its nats-server is 2\.9\.10-1.*\)$/,
    );
    expect(await readdir(join(root, "cache"))).toEqual([]);
  });

  test("is never trusted without the distribution's keyring", async () => {
    const wanted = await request({ unstable: "2.15.1-1" });
    const distribution = { ...wanted.distribution, keyrings: ["/nowhere/keyring.gpg"] };
    await expect(obtainFromDebian({ ...wanted, distribution })).rejects.toThrow(
      "none of these files exists: /nowhere/keyring.gpg",
    );
  });

  test("that does not run here is passed over", async () => {
    await program(
      "dpkg-deb",
      `mkdir -p "$3/usr/sbin"; printf '#!/bin/sh\\nexit 1\\n' > "$3/usr/sbin/nats-server"; chmod 755 "$3/usr/sbin/nats-server"`,
    );
    await expect(obtainFromDebian(await request({ unstable: "2.15.1-1" }))).rejects.toThrow("ended with exit code 1");
    expect(await readdir(join(root, "cache"))).toEqual([]);
  });
});
