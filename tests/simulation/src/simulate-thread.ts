import { parentPort, workerData } from "node:worker_threads";
import { simulate } from "./simulate.ts";

// One thread's share of the seeds: lines as they come, then the sums.
const tally = await simulate(workerData, (line) => parentPort?.postMessage({ line }));
parentPort?.postMessage({ tally });
