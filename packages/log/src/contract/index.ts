// What every implementation of the log's ports must show. Runs under any test runner.
export type { ContractCase } from "./contract-case.ts";
export { type LogFixture, logTransportContract } from "./log-transport-contract.ts";
export { type SnapshotFixture, snapshotStoreContract } from "./snapshot-store-contract.ts";
export { TailWitness } from "./tail-witness.ts";
