import { Violation } from "./violation.ts";

/** Keeps the first violation of a run. Oracles that are asked from inside the code under test must not throw into it. */
export class Court {
  #violation: Violation | undefined;

  get violation(): Violation | undefined {
    return this.#violation;
  }

  /** Runs an examination; a violation that it finds is kept. */
  examine(examination: () => void): void {
    try {
      examination();
    } catch (thrown) {
      this.#violation ??= thrown instanceof Violation ? thrown : crash(thrown);
    }
  }

  /** Something broke that nobody caught. */
  noteCrash(thrown: unknown): void {
    this.#violation ??= crash(thrown);
  }
}

function crash(thrown: unknown): Violation {
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return new Violation("crash", `the code under test broke: ${text}`);
}
