import { Violation } from "./violation.ts";

/** Keeps the first violation of a run. Oracles that are asked from inside the code under test must not throw into it. */
export class Court {
  #violation: Violation | undefined;
  #isAdjourned = false;

  get violation(): Violation | undefined {
    return this.#violation;
  }

  /** Runs an examination; a violation that it finds is kept. */
  examine(examination: () => void): void {
    if (!this.#isAdjourned) this.examineAlways(examination);
  }

  /** As `examine`, also after the court has adjourned. */
  examineAlways(examination: () => void): void {
    try {
      examination();
    } catch (thrown) {
      this.#violation ??= thrown instanceof Violation ? thrown : crash(thrown);
    }
  }

  /** What was promised so far cannot be any more: the usual examinations end. */
  adjourn(): void {
    this.#isAdjourned = true;
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
