import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Deployment, type ManagedProcess, waitFor } from "@tenure/testkit";
import { start } from "./command-line.ts";
import { CuttableProxy } from "./cuttable-proxy.ts";
import { Journal } from "./journal.ts";

const beats = fileURLToPath(new URL("../programs/beats.mjs", import.meta.url));
/** How long anything may take on a busy machine. Looks are rare: this process is also the wire of every host. */
const patience = { timeoutMs: 60_000, intervalMs: 100 };

/** One host that runs `tenure exec`. */
export interface Host {
  readonly proxy: CuttableProxy;
  exec: ManagedProcess;
}

/**
 * Two hosts that want to run one program under one lease. The program starts a process of its own that listens to no
 * SIGTERM, and both write down when they live.
 */
export class ExecPair implements AsyncDisposable {
  readonly journal: Journal;
  readonly deployment: Deployment;
  readonly hosts: readonly Host[];
  readonly #start: (proxy: CuttableProxy) => ManagedProcess;

  private constructor(deployment: Deployment, journal: Journal, hosts: readonly CuttableProxy[], lease: string) {
    this.deployment = deployment;
    this.journal = journal;
    const flags = ["--restart", "--lease-duration", "5s", "--drain", "1s"];
    const program = [process.execPath, beats, journal.file, "parent", "stubborn"];
    this.#start = (proxy) => start(proxy.endpoint, ["exec", lease, ...flags, "--", ...program]);
    this.hosts = hosts.map((proxy) => ({ proxy, exec: this.#start(proxy) }));
  }

  static async create(deployment: Deployment, lease: string): Promise<ExecPair> {
    const proxies = await Promise.all([1, 2].map(() => CuttableProxy.create(deployment.grpc())));
    return new ExecPair(deployment, await Journal.create(), proxies, lease);
  }

  /** The host whose program runs, once one does under a token above this, with both of its processes. */
  async leader(aboveToken = 0n): Promise<{ readonly host: Host; readonly token: bigint }> {
    return await waitFor(() => {
      const newest = this.journal.terms.at(-1);
      if (newest === undefined || newest.token <= aboveToken || newest.pids.length < 2) return undefined;
      const line = `with token ${newest.token}`;
      const host = this.hosts.find(({ exec }) => exec.output.all.some((one) => one.includes(line)));
      return host && { host, token: newest.token };
    }, patience).catch((cause: unknown) => {
      const said = this.hosts.map(({ exec }) => `${exec.output.tail(8)}\n${JSON.stringify(exec.exit)}`).join("\n--\n");
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`${why}: no program runs under a token above ${aboveToken}:\n${said}`, { cause });
    });
  }

  /** Signals the watchdog of a host's `tenure exec`; one that has just lost its term may have none. */
  signalWatchdog({ exec }: Host, signal: NodeJS.Signals): void {
    const pid = childOf(exec.pid, /watchdog.js/);
    try {
      if (pid !== undefined) process.kill(pid, signal);
    } catch {
      // It ended a moment ago.
    }
  }

  /** Starts what was killed again, and lets what was stopped go on: one that is killed later would leave it behind. */
  async revive(host: Host): Promise<void> {
    host.proxy.mend();
    if (host.exec.exit !== undefined) host.exec = this.#start(host.proxy);
    else {
      host.exec.resume();
      this.signalWatchdog(host, "SIGCONT");
    }
  }

  /** No two terms ever acted at once, and nothing of the older ones is left. */
  async verdict(): Promise<{ readonly overlaps: readonly string[]; readonly leftOver: readonly number[] }> {
    await waitFor(async () => (await this.journal.leftOver()).length === 0, patience).catch(() => undefined);
    return { overlaps: this.journal.overlaps, leftOver: await this.journal.leftOver() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { exec } of this.hosts) await exec.stop();
    await waitFor(async () => (await this.journal.leftOver({ all: true })).length === 0, patience).catch(
      () => undefined,
    );
    await this.journal[Symbol.asyncDispose]();
    for (const { proxy } of this.hosts) await proxy[Symbol.asyncDispose]();
  }
}

/** The child of a process whose command line matches. */
export function childOf(pid: number, pattern: RegExp): number | undefined {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  const words = lines.map((line) => line.trim().split(/ +/));
  const found = words.find(([, parent, ...args]) => parent === String(pid) && pattern.test(args.join(" ")));
  return found === undefined ? undefined : Number(found[0]);
}
