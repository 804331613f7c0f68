/**
 * Makes the NATS credentials and gives each service a folder with its own seed and nothing else.
 *
 *   credentials [folder]     default /credentials
 *     <folder>/all             every seed: mounted here only; kept, so that running this again changes nothing
 *     <folder>/<user>          that user's seed alone: mounted by the containers that act as this user
 *     <folder>/nats            accounts.conf: public keys and permissions, for the NATS servers
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = process.argv[2] ?? "/credentials";
const provision = fileURLToPath(new URL("../packages/provision/dist/main.js", import.meta.url));

/**
 * Writes a seed for its one reader; whoever reads at the same time sees the old one or the new one, never a part.
 * @param {Buffer} seed
 * @param {string} path
 * @returns {boolean} whether anything had to be written
 */
function place(seed, path) {
  if (existsSync(path) && readFileSync(path).equals(seed)) return false;
  const draft = `${path}.draft`;
  writeFileSync(draft, seed, { mode: 0o600 });
  renameSync(draft, path);
  return true;
}

const made = spawnSync(
  process.execPath,
  [provision, "credentials", "--dir", `${folder}/all`, "--accounts", `${folder}/nats/accounts.conf`],
  { stdio: "inherit" },
);
if (made.status !== 0) process.exit(made.status ?? 1);

const suffix = ".nk";
for (const file of readdirSync(`${folder}/all`).filter((each) => each.endsWith(suffix))) {
  const user = file.slice(0, -suffix.length);
  if (!existsSync(`${folder}/${user}`)) continue;
  const isNew = place(readFileSync(`${folder}/all/${file}`), `${folder}/${user}/${file}`);
  process.stdout.write(`${user}: ${isNew ? "seed placed" : "seed unchanged"}\n`);
}
