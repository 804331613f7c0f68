import { cpus, loadavg, totalmem, version } from "node:os";
import { arch, platform } from "node:process";

/** The machine that a result was measured on. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly node: string;
  /** Load averages at the start: what else the machine was doing. */
  readonly load: readonly number[];
}

/** What a reader needs to know to judge the numbers. */
export function describeMachine(): Machine {
  const processors = cpus();
  return {
    processor: processors[0]?.model ?? "unknown",
    cores: processors.length,
    memoryBytes: totalmem(),
    system: `${platform} ${arch}, ${version()}`,
    node: process.version,
    load: loadavg(),
  };
}
