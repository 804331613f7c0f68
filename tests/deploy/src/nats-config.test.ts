import { cp, mkdir, rm } from "node:fs/promises";
import { natsBinary, tempDirectory } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { readCompose } from "./compose-file.ts";
import { readText, root } from "./repository.ts";
import { runCommand } from "./run-command.ts";

const environment = readCompose("deploy/compose.yaml").services["nats-1"]?.environment ?? {};

/** The files of a NATS container, with an accounts file as the credentials container makes it. */
async function natsFolder() {
  const folder = await tempDirectory();
  await cp(`${root}deploy/nats/nats.conf`, `${folder.path}/nats.conf`);
  await mkdir(`${folder.path}/accounts`);
  const provision = [`${root}packages/provision/dist/main.js`, "credentials", "--dir", `${folder.path}/all`];
  const made = await runCommand(process.execPath, [
    ...provision,
    "--accounts",
    `${folder.path}/accounts/accounts.conf`,
  ]);
  expect(made.code, made.stderr).toBe(0);
  return folder;
}

/** What nats-server itself says about the configuration. */
async function examine(folder: string, variables: Readonly<Record<string, string>>) {
  const { path } = await natsBinary();
  return await runCommand(path, ["-t", "-c", `${folder}/nats.conf`], variables);
}

describe("nats.conf", () => {
  it("is valid for nats-server, with the accounts that provision makes and what compose sets", async () => {
    await using folder = await natsFolder();
    const { code, stdout, stderr } = await examine(folder.path, environment);
    expect(stdout + stderr).toContain("is valid");
    expect(code).toBe(0);
  });

  it.each(["NATS_NAME", "NATS_ROUTES"])("is refused without %s", async (name) => {
    await using folder = await natsFolder();
    const { [name]: _, ...others } = environment;
    const { code, stdout, stderr } = await examine(folder.path, others);
    expect(stdout + stderr).toContain(`'${name}'`);
    expect(code).not.toBe(0);
  });

  it("is refused without accounts, so that no server ever runs open to all", async () => {
    await using folder = await natsFolder();
    await rm(`${folder.path}/accounts/accounts.conf`);
    expect((await examine(folder.path, environment)).code).not.toBe(0);
  });

  it("acknowledges nothing before it is on disk, and shows its monitor and its routes to no client", () => {
    const config = readText("deploy/nats/nats.conf");
    expect(config).toMatch(/^ {2}sync_interval: always$/m);
    expect(config).toMatch(/^http: "127\.0\.0\.1:8222"$/m);
    expect(config).toMatch(/^ {2}listen: \$NATS_ROUTES$/m);
    expect(config).not.toContain("no_auth_user");
  });
});
