import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { parse, stringify } from "yaml";
import { CommandFailure, exitCodes } from "../exit-code.ts";

/** A named way to reach a deployment. */
export interface Context {
  /** Gateways, `host:port` each. */
  readonly endpoints?: readonly string[];
  /** The namespace of leases that are named without one. */
  readonly namespace?: string;
  /** Files with PEM texts. Present, also empty, means TLS. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Sent as the `authorization` of every session. */
  readonly authorization?: string;
}

/** The configuration file. */
export interface ConfigFile {
  /** The context that is used unless another is named. */
  readonly current?: string;
  readonly contexts: Readonly<Record<string, Context>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the file is: `TENURE_CONFIG`, or `tenure/config.yaml` in the user's folder for configuration. */
export function configPath(environment: Environment): string {
  const given = environment.TENURE_CONFIG;
  if (given !== undefined && given !== "") return given;
  const folder = environment.XDG_CONFIG_HOME || join(environment.HOME || homedir(), ".config");
  return join(folder, "tenure", "config.yaml");
}

/** Reads the file; one that does not exist is empty. */
export function readConfig(path: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { contexts: {} };
    throw broken(path, error);
  }
  try {
    const read: unknown = parse(text) ?? {};
    return checked(read);
  } catch (error) {
    throw broken(path, error);
  }
}

/** Writes the file whole, readable by its user alone, since it may hold credentials. */
export function writeConfig(path: string, config: ConfigFile): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.new`;
  writeFileSync(draft, stringify(config), { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}

const contextKeys: readonly string[] = ["endpoints", "namespace", "tls", "authorization"];

/** A misspelt key would silently mean another deployment, so it is refused. */
function checked(read: unknown): ConfigFile {
  const file = recordOf(read, "the file");
  const contexts = recordOf(file.contexts ?? {}, "contexts");
  for (const [name, context] of Object.entries(contexts)) {
    const unknown = Object.keys(recordOf(context, `contexts.${name}`)).find((key) => !contextKeys.includes(key));
    if (unknown !== undefined) throw new Error(`contexts.${name} has an unknown key ${unknown}`);
  }
  const current = file.current;
  // Every key was looked at above; the values are checked where they are used.
  return { ...(typeof current === "string" ? { current } : {}), contexts: contexts as ConfigFile["contexts"] };
}

function recordOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error(`${what} must be a mapping`);
}

function broken(path: string, cause: unknown): CommandFailure {
  const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
  return new CommandFailure(exitCodes.usage, `the configuration ${path} cannot be used: ${why}`);
}
