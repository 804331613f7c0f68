/** Whether there is something to do, for one who waits for that. */
export class Wakening {
  #isAwake = true;
  #wake: (() => void) | undefined;

  /** There is something to do. */
  stir(): void {
    this.#isAwake = true;
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** What is to be done up to now is being done. */
  rest(): void {
    this.#isAwake = false;
  }

  /** Resolves when there is something to do, at the earliest a turn of the event loop later. */
  async untilAwake(): Promise<void> {
    // What has arrived together is found together.
    await Promise.resolve();
    if (this.#isAwake) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}
