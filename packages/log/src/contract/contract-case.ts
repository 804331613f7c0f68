/**
 * One statement of a contract and how to show it. A contract is a list of these, without a test runner, so that every
 * implementation of a port shows the same, each with its own runner and its own servers or none.
 */
export interface ContractCase<Fixture> {
  /** A sentence. */
  readonly title: string;
  /** Throws when the implementation breaks it. The fixture is fresh for every case. */
  readonly show: (fixture: Fixture) => Promise<void>;
}
