/** Has things done one after another, in the order in which they were asked for. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Does `act` when everything before it is done, whatever became of that. */
  take<Result>(act: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(act);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
