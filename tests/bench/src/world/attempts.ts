/** A client id with one change under way at a time. */
interface Lane {
  readonly clientId: string;
  number: bigint;
}

/** Numbers the changes of clients as the SDK does: each that is under way has a lane, of which one outcome is kept. */
export class Attempts {
  readonly #free = new Map<string, Lane[]>();
  readonly #made = new Map<string, number>();

  /** Makes one change, with an attempt of its own. */
  async change<Answer>(client: string, send: (attempt: Attempt) => Promise<Answer>): Promise<Answer> {
    const lane = this.#free.get(client)?.pop() ?? this.#make(client);
    lane.number += 1n;
    const { clientId, number } = lane;
    const answer = await send({ clientId, number, settledBelow: number });
    this.#free.get(client)?.push(lane);
    return answer;
  }

  #make(client: string): Lane {
    const made = (this.#made.get(client) ?? 0) + 1;
    this.#made.set(client, made);
    if (made === 1) this.#free.set(client, []);
    return { clientId: `${client}.${made}`, number: 0n };
  }
}

/** What a change carries so that it can be sent again. */
export interface Attempt {
  readonly clientId: string;
  readonly number: bigint;
  readonly settledBelow: bigint;
}
