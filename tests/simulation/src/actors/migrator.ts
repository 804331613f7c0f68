import type { Eligibility, Participant } from "@tenure/core";
import type { Random } from "@tenure/kernel";
import { pick } from "./candidacy.ts";
import type { StoreClient } from "./store-client.ts";

type Components = Eligibility["components"];

/** Who may hold the lock, from before a migration to after it and back. */
const phases: readonly [Components, ...Components[]] = [
  [{ name: "old", versionRange: "" }],
  [{ name: "old", versionRange: "<1.22.0" }],
  [
    { name: "old", versionRange: ">=1.22.0" },
    { name: "new", versionRange: ">=2.0.0" },
  ],
  [{ name: "new", versionRange: "" }],
  [{ name: "*", versionRange: ">=1.22.0" }],
  [],
];

/** The digest of a configuration, in hexadecimal: its number. */
export function digestOf(configuration: number): string {
  return configuration.toString(16).padStart(8, "0");
}

/** What the name of a configuration that is put only onto a lock that keeps its set begins with. */
export const unlessHeldPrefix = "unless-held-";

/** What each of the claimants is, by its place: two releases of the old component and two of the new one. */
export function componentAt(place: number): Omit<Participant, "configurationDigest"> {
  const isOld = place % 2 === 0;
  const isLater = place >= 2;
  if (isOld) return { component: "old", version: isLater ? "1.22.1" : "1.21.0" };
  return { component: "new", version: isLater ? "2.1.0" : "1.23.0" };
}

/** One that applies configurations of migration locks at any time, also held ones, and takes them away. */
export class Migrator {
  readonly #client: StoreClient;
  readonly #random: Random;
  readonly #locks: readonly string[];
  /** How many configurations it has sent. */
  configurations = 0;

  constructor(client: StoreClient, random: Random, locks: readonly string[]) {
    this.#client = client;
    this.#random = random;
    this.#locks = locks;
  }

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.#client.process.sleep(50 + this.#random.next() * 500);
      const lock = this.#locks[Math.floor(this.#random.next() * this.#locks.length)] ?? "";
      await this.#apply(lock, this.#random.next() < 0.9 ? pick(this.#random, phases) : undefined);
    }
  }

  async #apply(lease: string, components: Components | undefined): Promise<void> {
    this.configurations += 1;
    const isUnlessHeld = components !== undefined && this.#random.next() < 0.4;
    const configuration = `${isUnlessHeld ? unlessHeldPrefix : "c"}${this.configurations}`;
    const configurationDigest = digestOf(this.configurations);
    const attempt = { ...this.#client.nextAttempt(), settledBelow: 0n };
    await this.#client.change(this.#client.partitionOf(lease), 300, () => ({
      kind: "putMigration",
      principal: this.#client.principal,
      attempt,
      lease,
      expectedRevision: undefined,
      configuration: components && new Uint8Array(Buffer.from(configuration)),
      eligibility: components && { configuration, configurationDigest, components },
      isUnlessHeld,
    }));
  }
}
