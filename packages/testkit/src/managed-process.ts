import type { ChildProcess } from "node:child_process";
import { Fault, systemClock } from "@tenure/kernel";
import { inheritedEnvironment, spawnOnLeash } from "@tenure/launcher";
import { endWithTestRunner } from "./orphan-watch.ts";
import { OutputLines } from "./output-lines.ts";
import { processState } from "./process-state.ts";
import { type WaitOptions, waitFor } from "./wait-for.ts";

/** A program to run under test. */
export interface ProcessOptions {
  /** How failure messages call it; the file's name unless said. */
  readonly name?: string;
  readonly args?: readonly string[];
  /** Set on top of the inherited environment; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

/** How a process ended: by itself with a code, or by a signal. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const defaultTimeoutMs = 30_000;

/** A running program that dies with this process. Disposing it kills it and waits for its end. */
export class ManagedProcess implements AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  /** By the wall clock. */
  readonly startedAtMs = systemClock.wall();
  readonly output = new OutputLines();
  /** Resolves when the process has ended and all it printed was read. */
  readonly ended: Promise<ProcessExit>;
  #exit: ProcessExit | undefined;

  constructor(name: string, child: ChildProcess) {
    if (child.pid === undefined)
      throw new Fault({ code: "INTERNAL", reason: "NOT_STARTED", message: `${name} did not start` });
    this.name = name;
    this.pid = child.pid;
    if (child.stdout !== null) this.output.take(child.stdout);
    if (child.stderr !== null) this.output.take(child.stderr);
    this.ended = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        this.#exit = { code, signal };
        resolve(this.#exit);
      });
    });
  }

  /** How it ended; `undefined` while it runs. */
  get exit(): ProcessExit | undefined {
    return this.#exit;
  }

  /** Stops it as SIGSTOP does, and returns when it stands still. Its sockets stay open. */
  async pause(): Promise<void> {
    this.#signal("SIGSTOP");
    await waitFor(async () => (await processState(this.pid)) !== "running", {
      intervalMs: 1,
      describe: `${this.name} to stand still`,
    });
  }

  /** Lets it run on after {@link pause}. */
  resume(): void {
    this.#signal("SIGCONT");
  }

  /** Ends it as `kill -9` does; returns when it is gone. */
  async kill9(): Promise<ProcessExit> {
    this.#signal("SIGKILL");
    return await this.waitForExit();
  }

  /** Asks it to stop (SIGTERM), also when it is paused. Returns at once: see {@link waitForExit}. */
  terminate(): void {
    this.#signal("SIGTERM");
    this.#signal("SIGCONT");
  }

  /** Asks it to stop and waits; what has not stopped after `graceMs` is killed. */
  async stop(graceMs = 10_000): Promise<ProcessExit> {
    this.terminate();
    const timer = systemClock.schedule(graceMs, () => this.#signal("SIGKILL"));
    try {
      return await this.ended;
    } finally {
      timer.cancel();
    }
  }

  /** The first line that matches, printed before or after this call. Throws with the last lines if it ends without one. */
  waitForLine(
    pattern: RegExp | string,
    options: { readonly timeoutMs?: number; readonly from?: number } = {},
  ): Promise<string> {
    const matches = (line: string): boolean =>
      typeof pattern === "string" ? line.includes(pattern) : line.search(pattern) >= 0;
    const earlier = this.output.all.slice(options.from ?? 0).find(matches);
    if (earlier !== undefined) return Promise.resolve(earlier);
    return this.#bounded(options.timeoutMs, `a line with ${pattern}`, (resolve, reject) => {
      const stop = this.output.onLine((line) => {
        if (matches(line)) resolve(line);
      });
      void this.ended.then((exit) => reject(`it ended with ${describeExit(exit)}`));
      return stop;
    });
  }

  /** How it ended. Throws with the last lines when it still runs after the bound. */
  waitForExit(options: Pick<WaitOptions, "timeoutMs"> = {}): Promise<ProcessExit> {
    return this.#bounded(options.timeoutMs, "its end", (resolve) => {
      void this.ended.then(resolve);
      return () => undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill9();
  }

  #bounded<T>(
    timeoutMs: number = defaultTimeoutMs,
    what: string,
    begin: (resolve: (value: T) => void, reject: (why: string) => void) => () => void,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const fail = (why: string): void => {
        done();
        reject(this.#fault(`waited for ${what}, but ${why}`));
      };
      const timer = systemClock.schedule(timeoutMs, () => fail(`it did not come within ${timeoutMs} ms`));
      const cleanup = begin((value) => {
        done();
        resolve(value);
      }, fail);
      function done(): void {
        timer.cancel();
        cleanup();
      }
    });
  }

  #fault(what: string): Fault {
    const message = `${this.name} (process ${this.pid}): ${what}; its last lines:\n${this.output.tail()}`;
    return new Fault({ code: "DEADLINE_EXCEEDED", reason: "PROCESS", message });
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#exit !== undefined) return;
    try {
      process.kill(this.pid, signal);
    } catch {
      // It ended a moment ago: its end is on the way.
    }
  }
}

function describeExit({ code, signal }: ProcessExit): string {
  return signal === null ? `exit code ${code}` : signal;
}

/** Starts any program. It runs in a process group of its own and dies with this process. */
export function startProcess(file: string, options: ProcessOptions = {}): ManagedProcess {
  endWithTestRunner();
  const child = spawnOnLeash({
    output: "pipe",
    file,
    arguments: options.args ?? [],
    ...(options.cwd === undefined ? {} : { directory: options.cwd }),
    environment: { ...inheritedEnvironment(process.env), ...options.env },
  });
  return new ManagedProcess(options.name ?? file, child);
}
