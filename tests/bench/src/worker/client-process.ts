import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Figures } from "../benchmark.ts";
import type { WorkAnswer, WorkOrder } from "./messages.ts";

const script = fileURLToPath(new URL("main.js", import.meta.url));

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
    return await this.#answer();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exit = once(this.#child, "exit");
    if (this.#child.connected) this.#child.disconnect();
    await exit;
  }

  #answer(): Promise<Figures> {
    const { client, workload } = this.#order;
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null) => {
        this.#child.off("message", onMessage);
        reject(new Error(`the client ${client} ended with ${code} (${JSON.stringify(workload)})`));
      };
      const onMessage = (answer: WorkAnswer) => {
        this.#child.off("exit", onExit);
        if (answer.kind === "done") resolve(answer.figures);
        else reject(new Error(`the client ${client} failed (${JSON.stringify(workload)}): ${answer.message}`));
      };
      this.#child.once("exit", onExit);
      this.#child.once("message", onMessage);
    });
  }
}
