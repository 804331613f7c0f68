/** Who is told what a {@link Later} became. */
export interface LaterListener<Value> {
  onValue(value: Value): void;
  onFailure(thrown: unknown): void;
}

/**
 * A value that is known later and told to one listener, in the same turn in which it becomes known: what a promise is,
 * without a microtask and half a dozen objects for each, for whoever waits for very many. Settled once; whoever wants a
 * promise asks for one.
 */
export class Later<Value> {
  #state: "open" | "value" | "failure" = "open";
  #outcome: unknown = undefined;
  #listener: LaterListener<Value> | undefined = undefined;

  get isSettled(): boolean {
    return this.#state !== "open";
  }

  /** The outcome as a promise, in the place of a listener. */
  get promise(): Promise<Value> {
    return new Promise<Value>((onValue, onFailure) => this.tell({ onValue, onFailure }));
  }

  /** Has the listener told, at once if it is known already. There is one: a second one takes its place. */
  tell(listener: LaterListener<Value>): void {
    if (this.#state === "value") listener.onValue(this.#outcome as Value);
    else if (this.#state === "failure") listener.onFailure(this.#outcome);
    else this.#listener = listener;
  }

  /** The value is known. Without effect on what is settled. */
  resolve(value: Value): void {
    if (this.#settle("value", value)) this.#listener?.onValue(value);
  }

  /** There will be no value. Without effect on what is settled. */
  reject(thrown: unknown): void {
    if (this.#settle("failure", thrown)) this.#listener?.onFailure(thrown);
  }

  #settle(state: "value" | "failure", outcome: unknown): boolean {
    if (this.#state !== "open") return false;
    this.#state = state;
    if (this.#listener === undefined) this.#outcome = outcome;
    return true;
  }
}
