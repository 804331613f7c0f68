import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { configure, defineConfig, type Host, productVersion } from "@tenure/runtime";
import { renderAccounts } from "./accounts-config.ts";
import { createCredentials } from "./credentials.ts";

const fields = defineConfig({
  dir: {
    kind: "path",
    required: true,
    doc: "Folder for the seed files, one per NATS user; seeds that exist are kept.",
  },
  accounts: {
    kind: "path",
    doc: "File to write the servers' accounts to: public keys and permissions, for `include` in a nats-server configuration.",
  },
});

/** `tenure-provision credentials`. */
export const credentialsCommand = {
  name: "tenure-provision credentials",
  summary: "Makes the NATS users of a deployment: a seed file each, and the accounts file for the servers.",
  async run(host: Host, argv: readonly string[]): Promise<void> {
    const { name, summary } = credentialsCommand;
    const { environment, readFile } = host;
    const configured = configure({ name, summary, version: productVersion, fields, argv, environment, readFile });
    if (configured.kind === "print") return host.print(configured.text);
    const { dir, accounts } = configured.config.values;
    const credentials = await createCredentials(dir);
    for (const { user, path, created } of credentials) host.print(`${user}: ${path} ${created ? "created" : "kept"}\n`);
    if (accounts === undefined) return;
    await replaceFile(accounts, renderAccounts(credentials));
    host.print(`accounts: ${accounts} written\n`);
  },
} as const;

/** Whoever reads the file at the same time sees the old one or the new one, never a part. */
async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.draft`;
  await writeFile(draft, text);
  await rename(draft, path);
}
