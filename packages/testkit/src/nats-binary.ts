import { findNatsServer, obtainVersion } from "@tenure/launcher";

/** A server binary and its version. */
export interface NatsBinary {
  readonly path: string;
  readonly version: string;
}

/** The suites of Debian and Ubuntu that have the older versions which tests ask for. */
const suitesByVersion: Readonly<Record<string, readonly string[]>> = {
  "2.9.10": ["bookworm"],
  "2.10.27": ["trixie", "resolute", "questing"],
};

const found = new Map<string, Promise<NatsBinary>>();

/** The binary of an exact version, or the best one of this machine. Obtained once into the project's cache folder. */
export function natsBinary(version?: string): Promise<NatsBinary> {
  const key = version ?? "";
  const known = found.get(key);
  if (known !== undefined) return known;
  const search = locate(version);
  found.set(key, search);
  return search;
}

async function locate(version: string | undefined): Promise<NatsBinary> {
  const options = {
    environment: process.env,
    report: (line: string) => void process.stderr.write(`${line}\n`),
  };
  if (version === undefined) return await findNatsServer(options);
  const suites = suitesByVersion[version];
  return await obtainVersion({ ...options, version, ...(suites === undefined ? {} : { suites }) });
}
