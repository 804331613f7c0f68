import { whyUnreadable } from "./config/config-file.ts";
import { type CommonFields, type ConfigValues, configFault, type Problem } from "./config/index.ts";
import type { Host } from "./host.ts";

/** What proves to NATS who this service is, read from the files that the configuration names. */
export interface Credentials {
  readonly nkeySeed?: Uint8Array;
  readonly systemNkeySeed?: Uint8Array;
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** What is unwise about the files, for the log. */
  readonly warnings: readonly string[];
}

type Files = Pick<
  ConfigValues<CommonFields>,
  "natsNkeyFile" | "natsSystemNkeyFile" | "natsCaFile" | "natsCertFile" | "natsKeyFile"
>;

/** Others on the machine may read the file. */
const readableByOthers = 0o004;

/**
 * Reads every file that is named; all that is wrong is thrown at once, as a configuration fault. `nkeyKey` is how the
 * configuration calls the seed's file, for a service that connects as another user too.
 */
export function readCredentials(
  files: Files,
  host: Pick<Host, "readFile" | "fileMode">,
  nkeyKey = "nats-nkey-file",
): Credentials {
  const reader = new Reader(host);
  const nkeySeed = reader.seed(nkeyKey, files.natsNkeyFile);
  const systemNkeySeed = reader.seed("nats-system-nkey-file", files.natsSystemNkeyFile);
  const ca = reader.text("nats-ca-file", files.natsCaFile);
  const cert = reader.text("nats-cert-file", files.natsCertFile);
  const key = reader.secret("nats-key-file", files.natsKeyFile);
  if ((files.natsCertFile === undefined) !== (files.natsKeyFile === undefined)) {
    reader.problems.push({ where: "nats-cert-file", rule: "and nats-key-file go together: give both or none" });
  }
  if (reader.problems.length > 0) throw configFault(reader.problems);
  const tls = { ...defined("ca", ca), ...defined("cert", cert), ...defined("key", key) };
  return {
    ...defined("nkeySeed", nkeySeed),
    ...defined("systemNkeySeed", systemNkeySeed),
    ...(Object.keys(tls).length > 0 ? { tls } : {}),
    warnings: reader.warnings,
  };
}

class Reader {
  readonly problems: Problem[] = [];
  readonly warnings: string[] = [];
  readonly #host: Pick<Host, "readFile" | "fileMode">;

  constructor(host: Pick<Host, "readFile" | "fileMode">) {
    this.#host = host;
  }

  text(key: string, path: string | undefined): string | undefined {
    if (path === undefined) return undefined;
    try {
      return this.#host.readFile(path);
    } catch (thrown) {
      this.problems.push({ where: key, rule: `cannot be read: ${whyUnreadable(thrown)}`, value: JSON.stringify(path) });
      return undefined;
    }
  }

  secret(key: string, path: string | undefined): string | undefined {
    const text = this.text(key, path);
    if (path !== undefined && text !== undefined && ((this.#host.fileMode(path) ?? 0) & readableByOthers) !== 0) {
      this.warnings.push(`${key} ${path} can be read by every user of this machine: set its mode to 0600`);
    }
    return text;
  }

  seed(key: string, path: string | undefined): Uint8Array | undefined {
    const seed = this.secret(key, path)?.trim();
    if (path === undefined || seed === undefined) return undefined;
    if (!/^SU[A-Z2-7]{56}$/.test(seed)) {
      const rule = "must name a file with the NKEY seed of a user: 58 capital letters and digits that begin with SU";
      this.problems.push({ where: key, rule, value: JSON.stringify(path) });
    }
    return new TextEncoder().encode(seed);
  }
}

function defined<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [N in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: Value };
}
