import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { ThreadOrder, ThreadReport, ThreadStart } from "./messages.ts";

/** The part of a worker that is used here. */
export interface ThreadHandle {
  postMessage(orders: readonly ThreadOrder[]): void;
  terminate(): Promise<unknown>;
  on(event: "message", listener: (reports: readonly ThreadReport[]) => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "exit", listener: () => void): unknown;
}

/** The thread's module, beside this one: a bundler must be told to keep it there. */
const workerUrl = new URL("./renewal-worker.js", import.meta.url);

/** Whether the thread's module is where it should be. Without it no term would survive a busy main thread. */
export function hasThreadModule(): boolean {
  return existsSync(workerUrl);
}

/** Starts the thread as a worker of this process. */
export function startWorker(workerData: ThreadStart): ThreadHandle {
  return new Worker(workerUrl, { workerData, name: "tenure-renewal" });
}
