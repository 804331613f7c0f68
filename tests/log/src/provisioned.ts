import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bus } from "@tenure/bus";
import { createCredentials, renderAccounts, renderNatsConfig, type User } from "@tenure/provision";
import { freePort, natsBinary, startProcess, tempDirectory } from "@tenure/testkit";
import { connect } from "./connect.ts";

/** A real server that runs on the configuration which this product renders, with its users and nobody else. */
export interface ProvisionedServer extends AsyncDisposable {
  readonly url: string;
  seedFile(user: User): string;
  connect(user: User): Promise<Bus>;
}

/** Starts one; connecting waits until it answers. */
export async function startProvisioned(): Promise<ProvisionedServer> {
  const directory = await tempDirectory();
  const credentials = await createCredentials(join(directory.path, "credentials"));
  const port = await freePort();
  const config = join(directory.path, "nats.conf");
  await writeFile(join(directory.path, "accounts.conf"), renderAccounts(credentials));
  await writeFile(
    config,
    renderNatsConfig({
      serverName: "provisioned",
      host: "127.0.0.1",
      port,
      storeDirectory: join(directory.path, "store"),
      accounts: { include: "accounts.conf" },
    }),
  );
  const { path } = await natsBinary();
  const server = startProcess(path, { name: "provisioned nats-server", args: ["-c", config] });
  const url = `nats://127.0.0.1:${port}`;
  const seedFile = (user: User): string => join(directory.path, "credentials", `${user}.nk`);
  return {
    url,
    seedFile,
    connect: async (user) => connect(url, user, await readFile(seedFile(user), "utf8")),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}
