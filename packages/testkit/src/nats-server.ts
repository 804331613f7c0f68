import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@tenure/kernel";
import { freePort } from "./free-port.ts";
import { type ManagedProcess, startProcess } from "./managed-process.ts";
import { accountsFor } from "./nats-accounts.ts";
import { type NatsBinary, natsBinary } from "./nats-binary.ts";
import { renderTestConfig, systemUser } from "./nats-config.ts";
import { tempDirectory } from "./temp-directory.ts";
import { waitFor } from "./wait-for.ts";

/** How a test server is started. */
export interface NatsOptions {
  /** An exact version such as `2.10.27`; the best one of this machine when absent. */
  readonly version?: string;
  /** On unless `false`. */
  readonly jetstream?: boolean;
  /** A folder to keep the server's files in, and to leave behind; a temporary one when absent. */
  readonly directory?: string;
  /** A free port when absent. */
  readonly port?: number;
  /** How the server calls itself. */
  readonly name?: string;
  /**
   * `plain`, the default: open to all, with a system account. `provisioned`: the accounts, users and permissions of a
   * real deployment, whose seed files {@link NatsServer.nkeyFile} names.
   */
  readonly config?: "plain" | "provisioned";
  /** Accounts and users in NATS syntax, instead of those of `config`. */
  readonly accounts?: string;
  /** More lines of configuration at the top level, for example `max_payload: 4KB`. */
  readonly extraConfig?: string;
}

/** What one start needs; a cluster gives the same to each of its members. */
export interface NatsLaunch {
  readonly name: string;
  readonly binary: NatsBinary;
  readonly directory: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly jetstream: boolean;
  readonly cluster?: { readonly port: number; readonly routes: readonly number[] };
  readonly accounts?: string;
  readonly credentials?: string;
  readonly extraConfig?: string;
  /** Removes what was made for this server alone. */
  readonly cleanup: () => PromiseLike<void>;
}

/** A real nats-server. It keeps its ports and its folder over restarts, and dies with this process. */
export class NatsServer implements AsyncDisposable {
  readonly name: string;
  readonly version: string;
  readonly port: number;
  readonly directory: string;
  /** For clients without a name, who may do everything in a plain server and nothing in another. */
  readonly url: string;
  /** For the system account of a plain server. */
  readonly systemUrl: string;
  /** The HTTP monitoring endpoint. */
  readonly monitorUrl: string;
  readonly #launch: NatsLaunch;
  #process: ManagedProcess;

  private constructor(launch: NatsLaunch, process: ManagedProcess) {
    this.#launch = launch;
    this.#process = process;
    this.name = launch.name;
    this.version = launch.binary.version;
    this.port = launch.port;
    this.directory = launch.directory;
    this.url = `nats://127.0.0.1:${launch.port}`;
    this.systemUrl = `nats://${systemUser.user}:${systemUser.password}@127.0.0.1:${launch.port}`;
    this.monitorUrl = `http://127.0.0.1:${launch.monitorPort}`;
  }

  /** Starts the process and returns when it answers; a member of a cluster need not have found the others yet. */
  static async launch(launch: NatsLaunch): Promise<NatsServer> {
    const server = new NatsServer(launch, await spawnServer(launch));
    try {
      await server.#waitUntilUp();
    } catch (error) {
      await server.#process.kill9();
      throw error;
    }
    return server;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Whether the process exists; a paused one counts. */
  get running(): boolean {
    return this.#process.exit === undefined;
  }

  /** What the server logged since its last start. */
  get output(): readonly string[] {
    return this.#process.output.all;
  }

  /** The seed file of a user of a provisioned server, for example `lease-store`. */
  nkeyFile(user: string): string {
    const { credentials } = this.#launch;
    if (credentials !== undefined) return join(credentials, `${user}.nk`);
    throw new Fault({
      code: "FAILED_PRECONDITION",
      reason: "NOT_PROVISIONED",
      message: `nats-server ${this.name} has no seed file of ${user}: start it with config "provisioned"`,
    });
  }

  /** Stops it as SIGSTOP does: connections stay open, nothing is answered. */
  async pause(): Promise<void> {
    await this.#process.pause();
  }

  resume(): void {
    this.#process.resume();
  }

  /** Ends it as `kill -9` does. */
  async kill9(): Promise<void> {
    await this.#process.kill9();
  }

  /** Stops it in order and leaves its files for {@link restart}. */
  async stop(): Promise<void> {
    await this.#process.stop();
  }

  /** Starts it again with the same ports and files; stops it first if it runs. Returns when it answers. */
  async restart(): Promise<void> {
    if (this.running) await this.stop();
    this.#process = await spawnServer(this.#launch);
    await this.#waitUntilUp();
  }

  /** An answer of the monitoring endpoint, for example of `/jsz`. */
  async monitor(path: string): Promise<unknown> {
    const response = await fetch(`${this.monitorUrl}${path}`, { signal: AbortSignal.timeout(5000) });
    if (!response.ok) throw unhealthy(this.name, `${path} answered ${response.status}: ${await response.text()}`);
    return await response.json();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.kill9();
    await this.#launch.cleanup();
  }

  async #waitUntilUp(): Promise<void> {
    const process = this.#process;
    const path = this.#launch.cluster === undefined ? "/healthz" : "/varz";
    await waitFor(async () => process.exit !== undefined || (await this.monitor(path)) !== undefined, {
      timeoutMs: 60_000,
      describe: `nats-server ${this.name} to answer`,
    });
    if (process.exit === undefined) return;
    throw unhealthy(this.name, `it ended before it was ready:\n${process.output.tail()}`);
  }
}

function unhealthy(name: string, why: string): Fault {
  return new Fault({ code: "UNAVAILABLE", reason: "NATS_NOT_READY", message: `nats-server ${name}: ${why}` });
}

async function spawnServer(launch: NatsLaunch): Promise<ManagedProcess> {
  await mkdir(launch.directory, { recursive: true });
  const config = join(launch.directory, "nats-server.conf");
  const text = renderTestConfig({
    name: launch.name,
    port: launch.port,
    monitorPort: launch.monitorPort,
    version: launch.binary.version,
    storeDirectory: launch.jetstream ? join(launch.directory, "store") : undefined,
    ...(launch.cluster === undefined ? {} : { cluster: launch.cluster }),
    ...(launch.accounts === undefined ? {} : { accounts: launch.accounts }),
    ...(launch.extraConfig === undefined ? {} : { extra: launch.extraConfig }),
  });
  await writeFile(config, text);
  return startProcess(launch.binary.path, { name: `nats-server ${launch.name}`, args: ["-c", config] });
}

/** Between finding a free port and using it, another process may take it. */
const mostStarts = 5;

/** Starts `start` again when a port that it chose was taken meanwhile. */
export async function retryOnTakenPort<T>(start: () => Promise<T>): Promise<T> {
  for (let starts = 1; ; starts += 1) {
    try {
      return await start();
    } catch (error) {
      const taken = error instanceof Error && error.message.includes("address already in use");
      if (!taken || starts === mostStarts) throw error;
    }
  }
}

/** Starts one nats-server and returns when it answers. */
export async function startNats(options: NatsOptions = {}): Promise<NatsServer> {
  const binary = await natsBinary(options.version);
  const temporary = options.directory === undefined ? await tempDirectory() : undefined;
  const directory = options.directory ?? temporary?.path ?? "";
  const start = async (): Promise<NatsServer> =>
    NatsServer.launch({
      ...(await accountsFor(options, directory)),
      name: options.name ?? "test",
      binary,
      directory,
      port: options.port ?? (await freePort()),
      monitorPort: await freePort(),
      jetstream: options.jetstream ?? true,
      ...(options.extraConfig === undefined ? {} : { extraConfig: options.extraConfig }),
      cleanup: async () => await temporary?.[Symbol.asyncDispose](),
    });
  try {
    return options.port === undefined ? await retryOnTakenPort(start) : await start();
  } catch (error) {
    await temporary?.[Symbol.asyncDispose]();
    throw error;
  }
}
