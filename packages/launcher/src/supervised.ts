import type { ChildProcess } from "node:child_process";
import { Backoff, type Clock, type Random } from "@tenure/kernel";
import { spawnOnLeash } from "./leash.ts";

/** A program that should keep running. */
export interface Program {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What a supervised program needs of its surroundings. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  /** Told when the program ends by itself: `status` in words. */
  onExit(name: string, status: string): void;
}

/** A program that ran this long was well: the next failure is a new one and waits only shortly. */
const wellAfterMs = 30_000;

/** How long a program may take to stop before it is killed; longer than the services' own stop bound of 10 s. */
const stopLimitMs = 15_000;

/** Runs one program, starts it again with back-off when it ends by itself, and stops it within a bound. */
export class Supervised {
  readonly program: Program;
  readonly #surroundings: Surroundings;
  readonly #backoff: Backoff;
  readonly #stopping = new AbortController();
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();

  constructor(program: Program, surroundings: Surroundings) {
    this.program = program;
    this.#surroundings = surroundings;
    this.#backoff = new Backoff({ firstMs: 500, limitMs: 5000 }, surroundings.random);
    this.#start();
  }

  /** Ends the program: politely, then by force after the limit or as soon as `hurry` is aborted. */
  async stop(hurry: AbortSignal): Promise<void> {
    this.#stopping.abort();
    const child = this.#child;
    if (child === undefined) return;
    const force = (): void => void child.kill("SIGKILL");
    const limit = this.#surroundings.clock.schedule(stopLimitMs, force);
    hurry.addEventListener("abort", force, { once: true });
    if (hurry.aborted) force();
    else child.kill("SIGTERM");
    await this.#exited;
    limit.cancel();
    hurry.removeEventListener("abort", force);
  }

  #start(): void {
    const { name, command, args, environment } = this.program;
    const child = spawnOnLeash({ file: command, arguments: args, environment, output: "inherit" });
    this.#child = child;
    const startedMs = this.#surroundings.clock.now();
    this.#exited = new Promise((resolve) => {
      const onEnd = (status: string): void => {
        this.#child = undefined;
        resolve();
        if (this.#stopping.signal.aborted) return;
        if (this.#surroundings.clock.now() - startedMs >= wellAfterMs) this.#backoff.reset();
        this.#surroundings.onExit(name, status);
        void this.#startAgain();
      };
      child.once("error", (error) => onEnd(`could not start: ${error.message}`));
      child.once("exit", (code, signal) =>
        onEnd(signal === null ? `exited with code ${code}` : `was ended by ${signal}`),
      );
    });
  }

  async #startAgain(): Promise<void> {
    try {
      await this.#surroundings.clock.sleep(this.#backoff.next(), this.#stopping.signal);
    } catch {
      return; // Stopped while it waited to start again.
    }
    this.#start();
  }
}
