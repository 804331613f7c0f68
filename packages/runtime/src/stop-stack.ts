/** A step that failed while stopping. The steps after it ran all the same. */
export interface StopFailure {
  readonly step: string;
  readonly error: unknown;
}

/**
 * What must be undone, in the reverse of the order in which it was done. Each step has a name, so that one that hangs
 * can be named; a step that fails does not keep the others from running.
 */
export class StopStack {
  readonly #steps: { readonly name: string; readonly stop: () => unknown }[] = [];

  /** Adds a step that will run before all that are there. A promise that `stop` returns is awaited. */
  push(name: string, stop: () => unknown): void {
    this.#steps.push({ name, stop });
  }

  /** Runs every step once, last in first out, and says which ones failed. `onStep` sees each name before it runs. */
  async run(onStep: (name: string) => void = () => {}): Promise<readonly StopFailure[]> {
    const failures: StopFailure[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      onStep(step.name);
      try {
        await step.stop();
      } catch (error) {
        failures.push({ step: step.name, error });
      }
    }
    return failures;
  }
}
