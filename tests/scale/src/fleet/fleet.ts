import { fileURLToPath } from "node:url";
import { type ManagedProcess, startScript } from "@tenure/testkit";
import type { Report } from "./reports.ts";

/** Processes that run one program of the fleet, each with its task. */
export class Fleet<Task, Result> implements AsyncDisposable {
  readonly processes: readonly ManagedProcess[];

  constructor(program: "holders" | "watchers", tasks: readonly Task[]) {
    const path = fileURLToPath(new URL(`../../dist/fleet/${program}.js`, import.meta.url));
    this.processes = tasks.map((task, at) =>
      startScript(path, { name: `${program} ${at + 1}`, args: [JSON.stringify(task)] }),
    );
  }

  /** Resolves when every process is ready. */
  async ready(timeoutMs: number): Promise<void> {
    await Promise.all(this.processes.map((one) => one.waitForLine(/^{"kind":"ready"/, { timeoutMs })));
  }

  /** Gives all of them the signal to go on. */
  signal(): void {
    for (const { pid } of this.processes) process.kill(pid, "SIGUSR2");
  }

  /** What they found; the first after so many that were read before. */
  async results(timeoutMs: number, after = 0): Promise<readonly Result[]> {
    return await Promise.all(
      this.processes.map(async (one) => {
        let line = "";
        for (let read = 0, from = 0; read <= after; read += 1) {
          line = await one.waitForLine(/^{"kind":"result"/, { timeoutMs, from });
          from = one.output.all.indexOf(line, from) + 1;
        }
        const report = JSON.parse(line) as Report;
        return (report.kind === "result" ? report.result : undefined) as Result;
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map((one) => one[Symbol.asyncDispose]()));
  }
}
