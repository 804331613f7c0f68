import { Claimant, LeaseClaim } from "@tenure/contracts";
import { systemClock } from "@tenure/kernel";
import type { Session } from "@tenure/sdk";
import { eachInFlight } from "../../world/in-flight.ts";
import type { Renewed, Renewer } from "../peer-client.ts";

/** Claims under way while leases are taken. */
const claimsInFlight = 64;
/** A renewal is only made when it is asked for: the interval is longer than any benchmark. */
const renewIntervalMs = 3_600_000;
const requestTimeoutMs = 30_000;

/** As long as the service allows. */
const timing = {
  leaseDuration: { seconds: 300n },
  usableTerm: { seconds: 200n },
  renewInterval: { seconds: 30n },
  requestTimeout: { seconds: 30n },
};

type Keeping = ReturnType<Session["keep"]>;

/** The leases of one session, which the SDK renews together: one message, whatever their number. */
export class Holds implements Renewer {
  readonly #keepings: Keeping[] = [];
  #missing = 0;
  #onAll: () => void = () => {};
  #onFailure: (error: Error) => void = () => {};

  private constructor() {}

  static async take(session: Session, prefix: string, count: number, namespace = "bench"): Promise<Holds> {
    const holds = new Holds();
    await eachInFlight(count, claimsInFlight, (number) => holds.#take(session, namespace, `${prefix}-${number}`));
    return holds;
  }

  async renewFor(durationMs: number): Promise<Renewed> {
    const endAtMs = systemClock.now() + durationMs;
    const latenciesMs: number[] = [];
    for (let nowMs = systemClock.now(); nowMs < endAtMs; ) {
      const startedAtMs = nowMs;
      await this.#renew();
      nowMs = systemClock.now();
      latenciesMs.push(nowMs - startedAtMs);
    }
    return { count: latenciesMs.length * this.#keepings.length, latenciesMs };
  }

  /** Renews all holds once: resolves when the acknowledgement of each has come. */
  #renew(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#missing = this.#keepings.length;
      this.#onAll = resolve;
      this.#onFailure = reject;
      this.#keepings[0]?.renewNow();
    });
  }

  async #take(session: Session, namespace: string, name: string): Promise<void> {
    const claims = [LeaseClaim.fromPartial({ lease: { namespace, name } })];
    const claimant = Claimant.fromPartial({ holder: "bench", timing });
    const [granted] = await session.claim({ claims, claimant });
    const hold = granted?.grant.hold;
    if (granted === undefined || hold === undefined) throw new Error(`${name} was not granted`);
    const { holdId, partition, token } = hold;
    const times = { renewIntervalMs, requestTimeoutMs, provenAtMs: granted.sentAtMs, usableTermMs: 200_000 };
    const fail = (error: Error) => this.#onFailure(error);
    const keeping = session.keep(
      { lease: { namespace, name }, holdId, partition, token, ...times },
      {
        onRenewed: () => this.#renewed(),
        onMissed: fail,
        onRefused: fail,
        onEndOfTerm: () => {},
        onEnded: () => fail(new Error(`the term of ${name} ended`)),
      },
    );
    this.#keepings.push(keeping);
  }

  #renewed(): void {
    this.#missing -= 1;
    if (this.#missing === 0) this.#onAll();
  }
}
