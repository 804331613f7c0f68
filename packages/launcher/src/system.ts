import { type Clock, Fault, type Random } from "@tenure/kernel";
import { type DataFolder, openDataFolder } from "./data-folder.ts";
import type { Environment } from "./environment.ts";
import { spawnOnLeash } from "./leash.ts";
import { type LocalNats, natsLogTail, prepareNats } from "./local-nats.ts";
import type { LaunchOptions } from "./options.ts";
import { takePort } from "./ports.ts";
import { initProgram, servicePrograms } from "./programs.ts";
import { waitUntilReady } from "./readiness.ts";
import type { Running } from "./ready-block.ts";
import { type Program, Supervised } from "./supervised.ts";

/** What a system needs of the process that runs it. */
export interface SystemInput {
  readonly options: LaunchOptions;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: Random;
  /** Says what takes long or went wrong. */
  report(line: string): void;
}

/** NATS and every service as processes: started in order, kept running, stopped in the reverse order. */
export class System {
  readonly #input: SystemInput;
  readonly #running: Supervised[] = [];
  /** Aborted with the reason when something ends before the system was ready: then there is nothing to wait for. */
  readonly #failed = new AbortController();
  #folder: DataFolder | undefined;
  #isReady = false;

  constructor(input: SystemInput) {
    this.#input = input;
  }

  /** Starts everything and waits until the whole system serves. The caller stops it, also after a failure. */
  async start(stopped: AbortSignal): Promise<Running> {
    const { options, environment, clock, report } = this.#input;
    const startedMs = clock.now();
    const signal = AbortSignal.any([stopped, this.#failed.signal]);
    const grpcPort = await takePort(options.grpcPort, "gRPC", "--port");
    const httpPort = await takePort(options.httpPort, "HTTP", "--http-port");
    const folder = openDataFolder(options.dataFolder, options.fresh);
    this.#folder = folder;
    const nats = await prepareNats({ folder, environment, report, signal });
    signal.throwIfAborted();
    if (nats.program !== undefined) this.#run(nats.program);
    const continued = await this.#initialise(folder, nats, signal);
    signal.throwIfAborted();
    for (const program of servicePrograms({ options, nats: nats.access, grpcPort, httpPort, environment })) {
      this.#run(program);
    }
    await waitUntilReady(httpPort, clock, signal);
    this.#isReady = true;
    const { dataFolder, scale } = options;
    const tookMs = clock.now() - startedMs;
    return { grpcPort, httpPort, nats: nats.description, dataFolder, tookMs, scale, continued };
  }

  /** Stops services before NATS, each in its own time; `hurry` kills what is left. */
  async stop(hurry: AbortSignal): Promise<void> {
    const [nats, ...services] =
      this.#running[0]?.program.name === "nats-server" ? this.#running : [undefined, ...this.#running];
    // The front goes first, so that callers are told, then the others at once: none of them needs another to stop.
    const fronts = services.filter((service) => service?.program.name.startsWith("gateway"));
    const others = services.filter((service) => !fronts.includes(service));
    await Promise.all(fronts.map((service) => service?.stop(hurry)));
    await Promise.all(others.map((service) => service?.stop(hurry)));
    await nats?.stop(hurry);
    this.#folder?.release();
  }

  #run(program: Program): void {
    const { clock, random } = this.#input;
    this.#running.push(
      new Supervised(program, { clock, random, onExit: (name, status) => this.#onExit(name, status) }),
    );
  }

  #onExit(name: string, status: string): void {
    if (this.#isReady) {
      this.#input.report(`${name} ${status}; it is started again`);
      return;
    }
    const log = name === "nats-server" && this.#folder !== undefined ? natsLogTail(this.#folder) : "";
    const message = `${name} ${status} before the system was ready${log === "" ? ", see the lines above" : `:\n${log}`}`;
    this.#failed.abort(new Fault({ code: "UNAVAILABLE", reason: "PROCESS_ENDED", message }));
  }

  /**
   * Makes the streams of a new deployment, and says whether there was one already. Our own NATS is initialised once for
   * its folder, and from then on must have its streams; a foreign one is asked every time, which changes nothing in it
   * if it has them.
   */
  async #initialise(folder: DataFolder, nats: LocalNats, signal: AbortSignal): Promise<boolean> {
    const isOwn = nats.program !== undefined;
    if (isOwn && folder.isInitialised) return true;
    this.#input.report("making the streams of a new deployment, if there are none");
    const { code, output } = await runToEnd(initProgram(nats.access, this.#input.environment), signal);
    if (code !== 0) {
      const wayOut = isOwn ? "; npm start -- --fresh begins with empty data" : "";
      throw new Fault({ code: "FAILED_PRECONDITION", reason: "INIT_FAILED", message: `${lastLine(output)}${wayOut}` });
    }
    if (isOwn) folder.markInitialised();
    return output.includes("already initialized");
  }
}

/** Runs a program to its end. It is killed, and the reason thrown, as soon as the signal is aborted. */
async function runToEnd(program: Program, signal: AbortSignal): Promise<{ code: number | null; output: string }> {
  const { command, args, environment } = program;
  const child = spawnOnLeash({ file: command, arguments: args, environment, output: "pipe" });
  const kill = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  signal.removeEventListener("abort", kill);
  signal.throwIfAborted();
  return { code, output };
}

/** The line in which a program says why it failed. */
function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}
