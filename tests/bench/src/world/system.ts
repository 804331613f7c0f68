import type { ClientName } from "../worker/client-kinds.ts";

/** A system that runs for the benchmarks: one of the peers, or Tenure. */
export interface System extends AsyncDisposable {
  /** Its version and its settings, in one line. */
  readonly description: string;
  /** Where each of its clients connects. */
  readonly endpoints: Readonly<Partial<Record<ClientName, string>>>;
  /** Every process that serves, by what it is. */
  readonly processes: readonly { readonly name: string; readonly pid: number }[];
}

/** A peer that cannot be had on this machine: named in the table, never guessed. */
export class MissingPeer extends Error {}
