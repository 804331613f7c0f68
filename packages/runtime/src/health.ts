/** A condition of readiness that is not met, and why. */
export interface Unmet {
  readonly condition: string;
  readonly why: string;
}

/**
 * Whether this process should get work: every condition that was ever named must hold. Whoever owns a condition sets
 * it; nobody polls. A process with no condition at all is not ready, because nobody has said that it is.
 */
export class Health {
  readonly #conditions = new Map<string, string | undefined>();
  readonly #listeners = new Set<() => void>();

  /** Says whether a condition holds; `why` explains to an operator what is missing, and is dropped when it holds. */
  set(condition: string, ready: boolean, why = "not ready"): void {
    const before = this.#conditions.get(condition);
    const after = ready ? undefined : why;
    if (this.#conditions.has(condition) && before === after) return;
    this.#conditions.set(condition, after);
    for (const listener of [...this.#listeners]) listener();
  }

  get ready(): boolean {
    return this.#conditions.size > 0 && this.unmet.length === 0;
  }

  /** The conditions that do not hold, in the order in which they were first named. */
  get unmet(): readonly Unmet[] {
    return [...this.#conditions].flatMap(([condition, why]) => (why === undefined ? [] : [{ condition, why }]));
  }

  /** Calls `listener` after each change of a condition or of its reason, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
