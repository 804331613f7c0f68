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
  leader(above: bigint): Promise<Led> {
    const look = (): Led | undefined => this.#announced().find(({ token }) => token > above);
    return waitFor(look, { describe: "a copy to lead", timeoutMs: 60_000, intervalMs: 5 });
  }

  /** Who leads when so many others stand in the queue, by the word of the store: what the copies said may be over. */
  settled(waiting: number): Promise<Led> {
    const look = async (): Promise<Led | undefined> => {
      const record = await this.#observer.leases.get("examples/controller");
      if ((record?.waiters ?? 0) < waiting) return undefined;
      return this.#announced().find(({ token }) => token === record?.holds[0]?.token);
    };
    return waitFor(look, { describe: `a leader and ${waiting} that wait`, timeoutMs: 60_000 });
  }

  /** The guarded count, and the token of the term that wrote it. */
  count() {
    return this.#observer.leases.guarded("examples/controller").get("count");
  }

  /** All terms that copies announced, in their order. */
  #announced(): readonly Led[] {
    return this.#all
      .flatMap((copy) => copy.lines.map(({ text, atMs }) => ({ copy, token: tokenIn(text), atMs })))
      .filter(({ token }) => token > 0n)
      .toSorted((left, right) => Number(left.token - right.token));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((copy) => copy[Symbol.asyncDispose]()));
  }
}

function tokenIn(text: string): bigint {
  return BigInt(/leads with token (\d+)/.exec(text)?.[1] ?? 0);
}
