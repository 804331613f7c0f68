import type { Clock } from "@tenure/kernel";
import { aptEnvironment } from "./apt.ts";
import { runCommand } from "./command.ts";
import type { Distribution } from "./distribution.ts";

/** Reading the machine's own apt settings takes no network. */
const settingsTimeoutMs = 20_000;

/** Mirrors of the distribution in lines `<origin>|<address>|<suite>`, the output of {@link askIndexTargets}. */
export function mirrorsOfTargets(output: string, origin: string): string[] {
  const mirrors = output
    .split("\n")
    .map((line) => line.split("|"))
    .filter(([lineOrigin, address, suite]) => lineOrigin === origin && isArchive(address) && !isSecurity(suite))
    .map(([, address]) => withoutSlash(address ?? ""));
  return [...new Set(mirrors)];
}

/**
 * Mirrors among the addresses of `apt-get update --print-uris`: those that carry the machine's own series. A foreign
 * repository of the same series name can slip in; its signature would not pass.
 */
export function mirrorsOfUris(output: string, codename: string): string[] {
  const mirrors: string[] = [];
  for (const [, address, suite] of output.matchAll(/^'([^']+)\/dists\/([^/']+)\/InRelease'/gm)) {
    if (suite === codename && isArchive(address)) mirrors.push(withoutSlash(address ?? ""));
  }
  return [...new Set(mirrors)];
}

function isArchive(address: string | undefined): boolean {
  return /^https?:\/\//.test(address ?? "");
}

function isSecurity(suite: string | undefined): boolean {
  return /security/.test(suite ?? "");
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, "");
}

/** Mirrors beyond these are not tried: each costs a time limit when it does not answer. */
const mostMirrors = 3;

/** The mirrors to try, the machine's own first: behind a firewall only those may answer. */
export async function mirrorsOf(distribution: Distribution, clock: Clock, signal?: AbortSignal): Promise<string[]> {
  const known = mirrorsOfTargets(await askIndexTargets(clock, signal), distribution.origin);
  const configured = known.length > 0 ? known : mirrorsOfUris(await askUris(clock, signal), distribution.codename);
  return [...new Set([...configured.slice(0, mostMirrors - 1), distribution.defaultMirror])];
}

/** What the machine's downloaded lists say; empty where there are none, as in a fresh container. */
function askIndexTargets(clock: Clock, signal: AbortSignal | undefined): Promise<string> {
  return ask(["indextargets", "--format", "$(ORIGIN)|$(REPO_URI)|$(RELEASE)"], clock, signal);
}

/** What the machine's sources name, whether or not they were ever downloaded. */
function askUris(clock: Clock, signal: AbortSignal | undefined): Promise<string> {
  return ask(
    ["-o", "Dir::State::lists=/dev/null/none", "-o", "Debug::NoLocking=1", "--print-uris", "update"],
    clock,
    signal,
  );
}

async function ask(parameters: readonly string[], clock: Clock, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await runCommand({
      file: "apt-get",
      arguments: parameters,
      environment: aptEnvironment(),
      timeoutMs: settingsTimeoutMs,
      clock,
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    return "";
  }
}
