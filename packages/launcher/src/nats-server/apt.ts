import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@tenure/kernel";
import { runCommand } from "./command.ts";

/** One suite of one mirror, read through apt with folders of its own. */
export interface AptSource {
  readonly mirror: string;
  readonly suite: string;
  readonly component: string;
  readonly keyring: string;
}

/** What every apt command needs. */
export interface AptContext {
  /** Holds the lists, the cache and the configuration; the system's own are neither read nor written. */
  readonly directory: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** Three minutes cover a package list of 11 MB over a line of 0.5 Mbit/s. */
const aptTimeoutMs = 180_000;

/**
 * The private configuration of apt. The machine's own files are read before it, so a proxy set there is kept;
 * hooks that would tell the desktop or the package cache are cleared.
 */
export function aptConfiguration(directory: string): string {
  return `${[
    `Dir::State "${directory}/state";`,
    `Dir::State::lists "${directory}/lists";`,
    `Dir::State::status "${directory}/status";`,
    `Dir::Cache "${directory}/cache";`,
    `Dir::Etc::sourcelist "/dev/null";`,
    `Dir::Etc::sourceparts "${directory}/sources";`,
    `Dir::Etc::preferences "/dev/null";`,
    `Dir::Etc::preferencesparts "/dev/null";`,
    `APT::Sandbox::User "root";`,
    `APT::Update::Error-Mode "any";`,
    `Acquire::Languages "none";`,
    `Acquire::Retries "2";`,
    `Acquire::http::Timeout "20";`,
    `Acquire::https::Timeout "20";`,
    `Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";`,
    `Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";`,
    "#clear APT::Update::Pre-Invoke;",
    "#clear APT::Update::Post-Invoke;",
    "#clear APT::Update::Post-Invoke-Success;",
  ].join("\n")}\n`;
}

/** The source in the format of a `.sources` file, trusted by the distribution's own keyring alone. */
export function sourceStanza(source: AptSource): string {
  return `${[
    "Types: deb",
    `URIs: ${source.mirror}`,
    `Suites: ${source.suite}`,
    `Components: ${source.component}`,
    `Signed-By: ${source.keyring}`,
  ].join("\n")}\n`;
}

/** Writes the private folders of apt for one source. */
export async function prepareApt(directory: string, source: AptSource): Promise<void> {
  for (const folder of ["state", "lists/partial", "cache/archives/partial", "sources"]) {
    await mkdir(join(directory, folder), { recursive: true });
  }
  // An empty status file: what is installed on the machine has no say.
  await writeFile(join(directory, "status"), "");
  await writeFile(join(directory, "apt.conf"), aptConfiguration(directory));
  await writeFile(join(directory, "sources", "tenure.sources"), sourceStanza(source));
}

/** Runs `apt-get` or `apt-cache` with the private configuration; percentages of a transfer go to `onPercent`. */
export function apt(
  context: AptContext,
  program: "apt-get" | "apt-cache",
  parameters: readonly string[],
  onPercent?: (percent: number) => void,
): Promise<string> {
  return runCommand({
    file: program,
    arguments: ["-c", join(context.directory, "apt.conf"), "-q", "-o", "APT::Status-Fd=3", ...parameters],
    directory: context.directory,
    environment: aptEnvironment(),
    timeoutMs: aptTimeoutMs,
    clock: context.clock,
    signal: context.signal,
    onStatus: (line) => {
      const percent = /^dlstatus:\d+:([\d.]+):/.exec(line)?.[1];
      if (percent !== undefined) onPercent?.(Number(percent));
    },
  });
}

/** The caller's environment (a proxy may be set there) with apt's messages in English, for the person who reads them. */
export function aptEnvironment(): Record<string, string | undefined> {
  return { ...process.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive", APT_CONFIG: undefined };
}
