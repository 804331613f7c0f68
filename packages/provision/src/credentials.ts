import { randomUUID } from "node:crypto";
import { chmod, link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@tenure/kernel";
import { createUserKey, userKeyOf } from "@tenure/log";
import { type User, users } from "./topology.ts";

/** One user's key on disk. */
export interface Credential {
  readonly user: User;
  /** For the servers' configuration. */
  readonly publicKey: string;
  /** The seed file, `<user>.nk`, readable by its owner only. */
  readonly path: string;
  /** False when the seed was there already and was kept. */
  readonly created: boolean;
}

const ownerOnly = 0o600;

/**
 * A seed file for every user in `directory`. Seeds that exist are kept, so running it again changes nothing and a new
 * version only adds the users that it adds. Two at once agree: a file is made only if it does not exist.
 */
export async function createCredentials(directory: string): Promise<readonly Credential[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const credentials: Credential[] = [];
  for (const user of users) credentials.push(await credentialOf(directory, user));
  return credentials;
}

async function credentialOf(directory: string, user: User): Promise<Credential> {
  const path = join(directory, `${user}.nk`);
  const key = createUserKey();
  if (await writeIfAbsent(path, `${key.seed}\n`)) return { user, publicKey: key.publicKey, path, created: true };
  await chmod(path, ownerOnly);
  return { user, publicKey: await publicKeyIn(path), path, created: false };
}

async function publicKeyIn(path: string): Promise<string> {
  try {
    return userKeyOf(await readFile(path, "utf8")).publicKey;
  } catch (cause) {
    throw new Fault({
      code: "FAILED_PRECONDITION",
      reason: "NKEY_SEED_INVALID",
      message: `${path} is not the seed file of a NATS user (one line that begins with SU): remove it to get a new one, or bring the right one back`,
      cause,
    });
  }
}

/**
 * False when the file exists; never overwrites a secret. The file appears whole, so that whoever reads it at the same
 * time never sees a part.
 */
async function writeIfAbsent(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${randomUUID()}.draft`;
  await writeFile(draft, text, { mode: ownerOnly, flush: true });
  try {
    await link(draft, path);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  } finally {
    await rm(draft, { force: true });
  }
}
