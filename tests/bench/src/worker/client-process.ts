import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { systemClock } from "@tenure/kernel";
import type { Figures } from "../benchmark.ts";
import type { WorkAnswer, WorkOrder } from "./messages.ts";

const script = fileURLToPath(new URL("main.js", import.meta.url));
/** So much longer than it was told to work a client may take to answer: what it works with may be gone without a word. */
const patienceMs = 120_000;

/** A client in a process of its own, so that its CPU time is its own; it ends when this process does. */
export class ClientProcess implements AsyncDisposable {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #order: WorkOrder;

  private constructor(child: ChildProcess, order: WorkOrder) {
    this.#child = child;
    this.#order = order;
    this.pid = child.pid ?? 0;
  }

  /** Resolves when the client has everything that its work needs. */
  static async start(order: WorkOrder, nodeOptions: readonly string[]): Promise<ClientProcess> {
    const child = fork(script, [JSON.stringify(order)], { execArgv: [...nodeOptions, "--enable-source-maps"] });
    const client = new ClientProcess(child, order);
    await client.#answer();
    return client;
  }

  /** Has the work done for so long. */
  async measure(durationMs: number): Promise<Figures> {
    this.#child.send({ durationMs });
    return await this.#answer(durationMs + patienceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exit = once(this.#child, "exit");
    if (this.#child.connected) this.#child.disconnect();
    await exit;
  }

  #answer(withinMs?: number): Promise<Figures> {
    const { client, workload } = this.#order;
    const name = `the client ${client} (${JSON.stringify(workload)})`;
    return new Promise<Figures>((resolve, reject) => {
      const onExit = (code: number | null) => end(() => reject(new Error(`${name} ended with ${code}`)));
      const onMessage = (answer: WorkAnswer) =>
        end(() => {
          if (answer.kind === "done") resolve(answer.figures);
          else reject(new Error(`${name} failed: ${answer.message}`));
        });
      const onSilence = () => end(() => reject(new Error(`${name} has not answered for ${withinMs} ms`)));
      const timer = withinMs === undefined ? undefined : systemClock.schedule(withinMs, onSilence);
      const end = (settle: () => void) => {
        timer?.cancel();
        this.#child.off("exit", onExit);
        this.#child.off("message", onMessage);
        settle();
      };
      this.#child.once("exit", onExit);
      this.#child.once("message", onMessage);
    });
  }
}
