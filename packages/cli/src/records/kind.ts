import type { Tenure } from "@tenure/sdk";
import type { Invocation, Positional } from "../command/command.ts";
import type { Column } from "../output/table.ts";

/** A change that a watch tells. */
export interface Change<Item> {
  readonly kind: "changed" | "present" | "removed";
  readonly item: Item;
}

/** A kind of record: how it is found and how it is shown. `list`, `get`, `describe` and `--watch` are made of it. */
export interface Kind<Item> {
  /** The noun of its commands, such as `leases`. */
  readonly noun: string;
  /** One of them, in words. */
  readonly singular: string;
  /** What names one of them on the command line. */
  readonly positionals: readonly Positional[];
  readonly columns: readonly Column<Item>[];
  /** Names one among all of its kind. */
  name(item: Item): string;
  /** The API's JSON. */
  json(item: Item): unknown;
  list(tenure: Tenure, invocation: Invocation): AsyncIterable<Item> | Promise<readonly Item[]>;
  /** One of them; rejects with NOT_FOUND if there is none. */
  get(tenure: Tenure, invocation: Invocation): Promise<Item>;
  /** Everything worth knowing about one of them, for people. */
  describe(item: Item, tenure: Tenure, invocation: Invocation): Promise<readonly string[]> | readonly string[];
  /** The present ones, then every change, until the signal is aborted. */
  watch(tenure: Tenure, invocation: Invocation): AsyncIterable<Change<Item>>;
}
