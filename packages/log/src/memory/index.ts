// The log and the snapshot store in memory: for simulations and unit tests, with faults on demand.
export {
  type AppendFault,
  type FaultRates,
  ghost,
  type MemoryFaults,
  type ReadFault,
  randomFaults,
  type Traffic,
} from "./faults.ts";
export { MemoryLog, type MemoryLogOptions, type MemoryMessage } from "./memory-log.ts";
export { MemoryCompactor, MemorySnapshots } from "./memory-snapshots.ts";
export { MemoryTransport } from "./memory-transport.ts";
