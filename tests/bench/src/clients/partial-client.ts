import type { Contender, PeerClient, Renewer, Watched } from "./peer-client.ts";

/** A client of something that cannot do, or is not measured for, all that Tenure is. */
export abstract class PartialClient implements PeerClient {
  pair(_lane: number): Promise<void> {
    return this.#notMeasured("pairs");
  }

  contender(_lease: string, _number: number): Promise<Contender> {
    return this.#notMeasured("contenders");
  }

  writer(_lane: number, _isGuarded: boolean): Promise<() => Promise<unknown>> {
    return this.#notMeasured("writes");
  }

  watched(_watchers: number, _seen: () => void): Promise<Watched> {
    return this.#notMeasured("watches");
  }

  renewer(_leases: number): Promise<Renewer> {
    return this.#notMeasured("renewals");
  }

  idle(_leases: number): Promise<void> {
    return this.#notMeasured("idle leases");
  }

  abstract [Symbol.asyncDispose](): Promise<void>;

  #notMeasured(what: string): Promise<never> {
    return Promise.reject(new Error(`${this.constructor.name} is not measured for ${what}`));
  }
}
