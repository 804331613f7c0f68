import { cp, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { nodeOptions } from "@tenure/launcher";
import { tempDirectory } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { readText, root, serviceNames } from "./repository.ts";
import { runCommand } from "./run-command.ts";

/** Runs a script with the Node.js that runs this test. */
const runScript = (script: string, ...args: readonly string[]) => runCommand(process.execPath, [script, ...args]);

/** The image's programs laid out as in the image, with one service that prints its arguments. */
async function imageLayout() {
  const folder = await tempDirectory();
  await cp(`${root}deploy/image`, `${folder.path}/image`, { recursive: true });
  await symlink(`${root}packages`, `${folder.path}/packages`);
  await mkdir(`${folder.path}/services/echo/dist`, { recursive: true });
  await writeFile(`${folder.path}/services/echo/dist/main.js`, "console.log(JSON.stringify(process.argv.slice(1)));");
  return folder;
}

describe("entry point", () => {
  it("gives services the memory that npm start gives them", () => {
    const [, command = ""] = /^ENTRYPOINT (\["node".*)$/m.exec(readText("deploy/Dockerfile")) ?? [];
    const memory = nodeOptions.filter((option) => option.includes("semi-space"));
    expect(JSON.parse(command)).toEqual(["node", ...memory, "/app/image/entrypoint.mjs"]);
  });

  it("runs the service that the first argument names, with the other arguments", async () => {
    await using image = await imageLayout();
    const { stdout, code } = await runScript(`${image.path}/image/entrypoint.mjs`, "echo", "--port", "1");
    expect(JSON.parse(stdout)).toEqual([`${image.path}/services/echo/dist/main.js`, "--port", "1"]);
    expect(code).toBe(0);
  });

  it.each([
    [[], "no program was named"],
    [["nope"], 'there is no program "nope"'],
  ])("refuses %j in one line that names what there is", async (args, message) => {
    await using image = await imageLayout();
    const { stderr, code } = await runScript(`${image.path}/image/entrypoint.mjs`, ...args);
    expect(stderr).toBe(`tenure: ${message}; this image has echo, tenure, provision, credentials, front, health\n`);
    expect(code).toBe(2);
  });
});

describe("health check", () => {
  /** Runs the check against a server that answers with this status and body. */
  async function check(status: number, body: string) {
    const server = createServer((request, response) => {
      response.writeHead(request.url === "/readyz" ? status : 404).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const result = await runScript(`${root}deploy/image/health.mjs`, String(port));
    await new Promise((resolve) => server.close(resolve));
    return { ...result, port };
  }

  it("is content with a ready service", async () => {
    expect(await check(200, "{}")).toMatchObject({ code: 0, stdout: "" });
  });

  it("repeats why a service is not ready", async () => {
    expect(await check(503, '{"unmet":[]}')).toMatchObject({ code: 1, stdout: '503 {"unmet":[]}\n' });
  });

  it("fails when nothing listens", async () => {
    const { port } = await check(200, "");
    const { code, stdout } = await runScript(`${root}deploy/image/health.mjs`, String(port));
    expect(stdout).toContain(`no answer from port ${port}`);
    expect(code).toBe(1);
  });
});

describe("credentials", () => {
  it("gives each user's folder that user's seed alone, and the same again when run again", async () => {
    await using image = await imageLayout();
    await using credentials = await tempDirectory();
    const users = [...serviceNames(), "provision", "compactor", "component", "system"];
    for (const name of ["all", "nats", ...users]) await mkdir(`${credentials.path}/${name}`);
    const place = () => runScript(`${image.path}/image/entrypoint.mjs`, "credentials", credentials.path);
    const seeds = () => Promise.all(users.map((user) => readFile(`${credentials.path}/${user}/${user}.nk`, "utf8")));

    expect(await place()).toMatchObject({ code: 0, stderr: "" });
    const first = await seeds();
    expect(new Set(first).size).toBe(users.length);
    for (const user of users) {
      expect(await readdir(`${credentials.path}/${user}`)).toEqual([`${user}.nk`]);
      expect((await stat(`${credentials.path}/${user}/${user}.nk`)).mode & 0o777).toBe(0o600);
    }
    expect(await readFile(`${credentials.path}/nats/accounts.conf`, "utf8")).not.toMatch(/\bSU[A-Z2-7]{20,}/);

    expect(await place()).toMatchObject({ code: 0, stderr: "" });
    expect(await seeds()).toEqual(first);
  });
});

describe("build", () => {
  const dockerfile = readText("deploy/Dockerfile");

  it("ends in an image without a shell, as a user without rights", () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
    expect(last).toMatch(/^\nFROM scratch AS tenure$/m);
    expect(last).toMatch(/^USER 65532:65532$/m);
    expect(last).toMatch(/^HEALTHCHECK /m);
    expect(last).not.toMatch(/^RUN /m);
  });

  it("names base images that every part of the project agrees on", () => {
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:24-bookworm-slim$/m);
    expect(dockerfile).toMatch(/^ARG NATS_IMAGE=nats:2\.15-alpine$/m);
    const bases = [...dockerfile.matchAll(/^FROM \$?\{?(\w+)\}? /gm)].map(([, base]) => base);
    expect(new Set(bases)).toEqual(new Set(["NATS_IMAGE", "NODE_IMAGE", "build", "scratch"]));
  });

  it("sends no dependency, output, history or local state to the builder", () => {
    const lines = readText(".dockerignore").split("\n");
    expect(lines).toContain("*");
    expect(lines.filter((line) => line.startsWith("!")).join(" ")).not.toMatch(/\.git|node_modules|\.tenure/);
    for (const pattern of ["**/node_modules", "**/dist", "**/.tenure", "**/src/gen"]) expect(lines).toContain(pattern);
  });

  it("assembles with a script that a plain shell reads", async () => {
    expect(await runCommand("sh", ["-n", `${root}deploy/image/assemble.sh`])).toMatchObject({ code: 0, stderr: "" });
  });
});
