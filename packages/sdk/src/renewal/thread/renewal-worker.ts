import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { HolderClock, systemRandom } from "@tenure/kernel";
import { toTenureError } from "../../errors.ts";
import { makeTransport } from "../../transport/make-transport.ts";
import type { ThreadOrder, ThreadStart } from "./messages.ts";
import { RenewalSide } from "./renewal-side.ts";

const standardError = 2;

/**
 * Ends the whole process, at once: `process.exit` would end only this thread, and a signal that can be handled would
 * wait for the main thread, which is the one that does not run.
 */
function endProcess(why: string): void {
  try {
    writeSync(standardError, `tenure: ${why}\n`);
  } finally {
    process.kill(process.pid, "SIGKILL");
  }
}

/** The entry of the renewing thread: wiring only. */
function main(start: ThreadStart): void {
  const port = parentPort;
  if (port === null) throw new Error("this module is the renewing thread of the SDK and is not imported");
  const clock = new HolderClock(start.time);
  const random = systemRandom;
  const { connectTimeoutMs, userAgent } = start;
  const transport = makeTransport(start.transport, { clock, random, userAgent, connectTimeoutMs });
  const side = new RenewalSide({
    start,
    transport,
    clock,
    random,
    report: (reports) => port.postMessage(reports),
    endProcess,
  });
  port.on("message", async (orders: readonly ThreadOrder[]) => {
    side.take(orders);
    if (!orders.some(({ kind }) => kind === "close")) return;
    await transport[Symbol.asyncDispose]();
    port.close();
  });
  process.on("uncaughtException", (error) => side.fail(toTenureError(error)));
  side.start();
}

main(workerData as ThreadStart);
