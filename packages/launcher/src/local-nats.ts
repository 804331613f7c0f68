import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { redactLogins } from "@tenure/kernel";
import { createCredentials, renderAccounts, renderNatsConfig } from "@tenure/provision";
import type { DataFolder } from "./data-folder.ts";
import type { Environment } from "./environment.ts";
import { findNatsServer } from "./nats-server/find.ts";
import { freePort } from "./ports.ts";
import { type NatsAccess, natsProgram } from "./programs.ts";
import type { Program } from "./supervised.ts";

/** A NATS server to run, or one that runs already. */
export interface LocalNats {
  readonly access: NatsAccess;
  /** Absent for a foreign server. */
  readonly program: Program | undefined;
  /** For people. */
  readonly description: string;
}

/** What choosing a NATS server needs. */
export interface LocalNatsInput {
  readonly folder: DataFolder;
  readonly environment: Environment;
  /** Says what takes long. */
  report(line: string): void;
  /** Gives up what takes long. */
  readonly signal: AbortSignal;
}

/**
 * The server named by TENURE_NATS_URL, otherwise our own: found or obtained, on a free port of this machine, every
 * message synced to disk, with a user of its own for each service.
 */
export async function prepareNats({ folder, environment, report, signal }: LocalNatsInput): Promise<LocalNats> {
  const foreignUrl = environment.TENURE_NATS_URL;
  if (foreignUrl !== undefined && foreignUrl !== "") {
    const description = `${redactLogins(foreignUrl)} (TENURE_NATS_URL)`;
    return { access: { url: foreignUrl, credentials: undefined }, program: undefined, description };
  }
  const server = await findNatsServer({ environment, report, signal });
  const url = await writeConfig(folder);
  return {
    access: { url, credentials: folder.credentials },
    program: natsProgram(server.path, folder, environment),
    description: `${server.version} at ${url}`,
  };
}

async function writeConfig(folder: DataFolder): Promise<string> {
  const port = await freePort();
  mkdirSync(folder.natsStore, { recursive: true });
  const config = renderNatsConfig({
    serverName: "tenure-local",
    host: "127.0.0.1",
    port,
    storeDirectory: folder.natsStore,
    accounts: renderAccounts(await createCredentials(folder.credentials)),
  });
  writeFileSync(folder.natsConfig, config, { mode: 0o600 });
  return `nats://127.0.0.1:${port}`;
}

/** The last lines of the server's own log, for the message that says why it did not run. */
export function natsLogTail(folder: DataFolder): string {
  try {
    return readFileSync(folder.natsLog, "utf8").trimEnd().split("\n").slice(-3).join("\n");
  } catch {
    return "";
  }
}
