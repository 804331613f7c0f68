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
    const grpcPort = await takePort(options.grpcPort, "gRPC", "--port");
    const httpPort = await takePort(options.httpPort, "HTTP", "--http-port");
    const folder = openDataFolder(options.dataFolder, options.fresh);
    this.#folder = folder;
    const continued = folder.isInitialised;
    const nats = await prepareNats({ folder, environment, report });
    if (nats.program !== undefined) this.#run(nats.program);
    if (!continued) await this.#initialise(folder, nats);
    stopped.throwIfAborted();
    for (const program of servicePrograms({ options, nats: nats.access, grpcPort, httpPort, environment })) {
      this.#run(program);
    }
    await waitUntilReady(httpPort, clock, AbortSignal.any([stopped, this.#failed.signal]));
    this.#isReady = true;
    const tookMs = clock.now() - startedMs;
    return {
      grpcPort,
      httpPort,
      nats: nats.description,
      dataFolder: options.dataFolder,
      tookMs,
      scale: options.scale,
      continued,
    };
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

  /** Runs `init` to its end. It creates only what is completely absent, so a half-made folder is refused, not repaired. */
  async #initialise(folder: DataFolder, nats: LocalNats): Promise<void> {
    this.#input.report("creating the streams of a new deployment");
    const { command, args, environment } = initProgram(nats.access, this.#input.environment);
    const child = spawnOnLeash({ file: command, arguments: args, environment, output: "pipe" });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    if (code !== 0) {
      const log = nats.program === undefined ? "" : `\n${natsLogTail(folder)}`;
      throw new Fault({ code: "FAILED_PRECONDITION", reason: "INIT_FAILED", message: `${output.trim()}${log}` });
    }
    folder.markInitialised();
  }
}
