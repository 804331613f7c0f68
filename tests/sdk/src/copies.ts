import { fileURLToPath } from "node:url";
import { systemClock } from "@tenure/kernel";
import type { Tenure } from "@tenure/sdk";
import { type ManagedProcess, startProcess, waitFor } from "@tenure/testkit";

const example = fileURLToPath(new URL("../../../examples/controller.mjs", import.meta.url));
const blockOnSignal = fileURLToPath(new URL("../programs/block-on-signal.mjs", import.meta.url));

/** A line of a copy, and when it arrived. */
export interface Line {
  readonly text: string;
  readonly atMs: number;
}

/** One copy of the example controller; SIGUSR2 blocks its event loop. */
export class Copy implements AsyncDisposable {
  readonly process: ManagedProcess;
  readonly lines: Line[] = [];
  /** When it ended. */
  readonly endedAtMs: Promise<number>;

  constructor(name: string, endpoint: string, leaseDurationMs: number) {
    const args = ["--import", blockOnSignal, example, name, endpoint, `${leaseDurationMs}ms`];
    this.process = startProcess(process.execPath, { name, args });
    this.process.output.onLine((text) => this.lines.push({ text, atMs: systemClock.now() }));
    this.endedAtMs = this.process.ended.then(() => systemClock.now());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}

/** A term that a copy announced. */
export interface Led {
  readonly copy: Copy;
  readonly token: bigint;
  readonly atMs: number;
}

/** Copies of the example controller, one of which leads. */
export class Copies implements AsyncDisposable {
  readonly #all: Copy[] = [];
  readonly #observer: Tenure;
  readonly #endpoint: string;
  readonly #leaseDurationMs: number;

  constructor(observer: Tenure, endpoint: string, leaseDurationMs: number) {
    this.#observer = observer;
    this.#endpoint = endpoint;
    this.#leaseDurationMs = leaseDurationMs;
  }

  /** Starts so many more. */
  start(count: number): void {
    for (let number = 0; number < count; number += 1) {
      this.#all.push(new Copy(`copy-${this.#all.length + 1}`, this.#endpoint, this.#leaseDurationMs));
    }
  }

  /** The first term with a greater token that a copy announces. */
  leader(above = 0n): Promise<Led> {
    const look = (): Led | undefined =>
      this.#all
        .flatMap((copy) => copy.lines.map(({ text, atMs }) => ({ copy, token: tokenIn(text), atMs })))
        .filter(({ token }) => token > above)
        .toSorted((left, right) => Number(left.token - right.token))[0];
    return waitFor(look, { describe: "a copy to lead", timeoutMs: 60_000, intervalMs: 5 });
  }

  /** Waits until so many stand in the queue, so that a hand-over is one. */
  async queued(count: number): Promise<void> {
    const isQueued = async () => ((await this.#observer.leases.get("examples/controller"))?.waiters ?? 0) >= count;
    await waitFor(isQueued, { describe: `${count} copies to wait`, timeoutMs: 60_000 });
  }

  /** The guarded count, and the token of the term that wrote it. */
  count() {
    return this.#observer.leases.guarded("examples/controller").get("count");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((copy) => copy[Symbol.asyncDispose]()));
  }
}

function tokenIn(text: string): bigint {
  return BigInt(/leads with token (\d+)/.exec(text)?.[1] ?? 0);
}
