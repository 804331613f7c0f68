import { access } from "node:fs/promises";
import { type Clock, Fault, toFault } from "@tenure/kernel";
import { type AptContext, apt, aptEnvironment, prepareApt } from "./apt.ts";
import { withPartialDirectory } from "./cache.ts";
import { runCommand } from "./command.ts";
import type { Distribution } from "./distribution.ts";
import { mirrorsOf } from "./mirrors.ts";
import { percentReporter, type Report } from "./progress.ts";

/** Where to look for packages, and how. */
export interface SuiteRequest {
  readonly distribution: Distribution;
  /** Suites to look through, in this order; the distribution's own when absent. */
  readonly suites?: readonly string[];
  readonly cacheDirectory: string;
  readonly report: Report;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** The reason of a suite that was read and does not have what was asked for. */
const notPackaged = "NOT_PACKAGED";
const unpackTimeoutMs = 60_000;

/**
 * What `obtain` gives for the first suite that has it, whose package list it finds in its context. Needs no root and
 * changes nothing of the system. Throws when no suite of any mirror gives one; `what` names it then.
 */
export async function fromFirstSuite<Result>(
  request: SuiteRequest,
  what: string,
  obtain: (context: AptContext, suite: string) => Promise<Result>,
): Promise<Result> {
  const { cacheDirectory, clock, distribution, report, signal } = request;
  const keyring = await firstExisting(distribution.keyrings);
  const suites = new Set(request.suites ?? distribution.suites);
  const refusals: string[] = [];
  for (const mirror of await mirrorsOf(distribution, clock, signal)) {
    for (const suite of [...suites]) {
      const source = { mirror, suite, component: distribution.component, keyring };
      try {
        return await withPartialDirectory(cacheDirectory, async (directory) => {
          const context = { directory, clock, signal };
          const name = `${distribution.origin} ${suite}`;
          await prepareApt(directory, source);
          report(`reading the package list of ${name}`);
          await apt(context, "apt-get", ["update"], percentReporter(`package list of ${name}`, report));
          return await obtain(context, name);
        });
      } catch (error) {
        signal?.throwIfAborted();
        const { message, reason } = toFault(error);
        report(`${distribution.origin} ${suite} was passed over: ${message}`);
        refusals.push(`${suite}: ${message}`);
        // Another mirror has the same package; only one that could not be read is worth another mirror.
        if (reason === notPackaged) suites.delete(suite);
      }
    }
  }
  throw unavailable(`no suite of ${distribution.origin} gave a usable ${what} (${refusals.join("; ")})`);
}

/** The version of a package that a suite has. */
export async function candidateVersion(context: AptContext, suite: string, name: string): Promise<string> {
  const shown = await apt(context, "apt-cache", ["show", "--no-all-versions", name]);
  const version = /^Version: (\S+)$/m.exec(shown)?.[1];
  if (version === undefined) throw unavailable(`${suite} has no package ${name}`);
  return version;
}

/** Unpacks a downloaded package; nothing of it is run. */
export async function unpackArchive(context: AptContext, archive: string, into: string): Promise<void> {
  await runCommand({
    file: "dpkg-deb",
    arguments: ["-x", archive, into],
    environment: aptEnvironment(),
    timeoutMs: unpackTimeoutMs,
    clock: context.clock,
    signal: context.signal,
  });
}

/** The first of these files that exists. */
export async function firstExisting(paths: readonly string[]): Promise<string> {
  for (const path of paths) {
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (exists) return path;
  }
  throw unavailable(`none of these files exists: ${paths.join(", ")}`);
}

/** A package that a suite does not have as it is needed. */
export function unavailable(message: string): Fault {
  return new Fault({ code: "UNAVAILABLE", reason: notPackaged, message });
}
