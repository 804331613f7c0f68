import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { freePort } from "./free-port.ts";
import { startNats } from "./nats-server.ts";
import { processState } from "./process-state.ts";
import { rawRequest } from "./raw-request.ts";
import { tempDirectory } from "./temp-directory.ts";

const stream = JSON.stringify({ name: "KEPT", subjects: ["kept"], storage: "file" });

async function storedMessages(url: string): Promise<number> {
  const answer: unknown = JSON.parse(await rawRequest(url, "$JS.API.STREAM.INFO.KEPT", ""));
  return (answer as { readonly state: { readonly messages: number } }).state.messages;
}

describe("a test server", () => {
  test.each(["2.15.1", "2.10.27", "2.9.10"])(
    "of version %s keeps what it acknowledged over kill -9",
    async (version) => {
      await using server = await startNats({ version });
      expect(server.version).toBe(version);
      await rawRequest(server.url, "$JS.API.STREAM.CREATE.KEPT", stream);
      await rawRequest(server.url, "kept", "one");
      const { pid, port } = server;
      await server.kill9();
      expect(server.running).toBe(false);
      await server.restart();
      expect(server.port).toBe(port);
      expect(server.pid).not.toBe(pid);
      await rawRequest(server.url, "kept", "two");
      await server.stop();
      await server.restart();
      expect(await storedMessages(server.url)).toBe(2);
    },
  );

  test("opens its system account to the system user alone", async () => {
    await using server = await startNats();
    expect(await rawRequest(server.systemUrl, "$SYS.REQ.SERVER.PING", "")).toContain(`"ver":"${server.version}"`);
    await expect(rawRequest(server.url, "$SYS.REQ.SERVER.PING", "", 200)).rejects.toThrow("no answer");
    await expect(rawRequest(server.url.replace("//", "//system:wrong@"), "x", "")).rejects.toThrow("Authorization");
  });

  test("that is provisioned has a seed file for each user and opens to nobody without a key", async () => {
    await using server = await startNats({ config: "provisioned" });
    for (const user of ["lease-store", "provision", "system"]) {
      expect((await stat(server.nkeyFile(user))).mode & 0o777).toBe(0o600);
    }
    await expect(rawRequest(server.url, "$JS.API.INFO", "")).rejects.toThrow("Authorization");
    await expect(rawRequest(server.systemUrl, "$SYS.REQ.SERVER.PING", "")).rejects.toThrow("Authorization");
  });

  test("that is plain has no seed files and says so", async () => {
    await using server = await startNats();
    expect(() => server.nkeyFile("lease-store")).toThrow(
      'no seed file of lease-store: start it with config "provisioned"',
    );
  });

  test("may be without JetStream", async () => {
    await using server = await startNats({ jetstream: false });
    await expect(rawRequest(server.url, "$JS.API.INFO", "", 200)).rejects.toThrow("no answer");
  });

  test("answers nothing while it is paused, and goes on afterwards", async () => {
    await using server = await startNats();
    await server.pause();
    await expect(rawRequest(server.url, "$JS.API.INFO", "", 200)).rejects.toThrow("no answer");
    server.resume();
    expect(await rawRequest(server.url, "$JS.API.INFO", "")).toContain("account_info_response");
  });

  test("takes more configuration, and says which line it does not understand", async () => {
    await using server = await startNats({ extraConfig: "max_payload: 4KB" });
    expect(await server.monitor("/varz")).toMatchObject({ max_payload: 4096 });
    await expect(startNats({ extraConfig: "no_such_setting: 1" })).rejects.toThrow(
      /ended before it was ready.*no_such_setting/s,
    );
  });

  test("leaves neither a process nor a folder when it is disposed", async () => {
    const server = await startNats();
    await server[Symbol.asyncDispose]();
    expect(await processState(server.pid)).toBe("gone");
    expect(existsSync(server.directory)).toBe(false);
  });

  test("keeps a folder that it was given, with its data", async () => {
    await using directory = await tempDirectory();
    {
      await using first = await startNats({ directory: directory.path });
      await rawRequest(first.url, "$JS.API.STREAM.CREATE.KEPT", stream);
      await rawRequest(first.url, "kept", "one");
    }
    await using second = await startNats({ directory: directory.path });
    expect(await storedMessages(second.url)).toBe(1);
  });

  test("says so when the port that it was given is taken", async () => {
    const port = await freePort();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, "127.0.0.1", resolve));
    await expect(startNats({ port })).rejects.toThrow("address already in use");
    taken.close();
  });
});
