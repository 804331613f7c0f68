import { join } from "node:path";

/** What a server is told of accounts; nothing for a plain one. */
export interface NatsAccounts {
  /** Accounts and users in NATS syntax. */
  readonly accounts?: string;
  /** The folder of the users' seed files. */
  readonly credentials?: string;
}

/** The accounts that the options ask for. Seed files are made under `directory`; those that exist are kept. */
export async function accountsFor(
  options: { readonly config?: "plain" | "provisioned"; readonly accounts?: string },
  directory: string,
): Promise<NatsAccounts> {
  if (options.accounts !== undefined) return { accounts: options.accounts };
  if (options.config !== "provisioned") return {};
  // Loaded only when asked for, so that the tests of the packages below it run without it.
  const { createCredentials, renderAccounts } = await import("@tenure/provision");
  const credentials = join(directory, "credentials");
  return { accounts: renderAccounts(await createCredentials(credentials)), credentials };
}
