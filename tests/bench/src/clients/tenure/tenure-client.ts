import { type ConnectOptions, connect, type Tenure } from "@tenure/sdk";
import type { Contender, PeerClient, Renewer, Watched } from "../peer-client.ts";
import { smallValue } from "../small-value.ts";
import { Holds } from "./holds.ts";

/** As long as the service allows, so that nothing is renewed that is not measured. */
export const timing = { leaseDuration: "5m" } as const;
const namespace = "bench";
/** A machine that is busy with other things is measured, not given up. */
export const patience = { callTimeout: "60s", connectTimeout: "60s" } as const;

/** Tenure through its SDK, over gRPC or over NATS. */
export class TenureClient implements PeerClient {
  readonly #tenure: Tenure;
  readonly #prefix = `p${process.pid}`;

  private constructor(tenure: Tenure) {
    this.#tenure = tenure;
  }

  static async open(options: Pick<ConnectOptions, "endpoint" | "nats" | "renewal">): Promise<TenureClient> {
    return new TenureClient(await connect({ ...options, ...patience, namespace, timing, onStall: "signal-only" }));
  }

  async pair(lane: number): Promise<void> {
    const lock = await this.#tenure.lock(`${this.#prefix}-pair-${lane}`, { wait: false });
    await lock.release();
  }

  async contender(lease: string, number: number): Promise<Contender> {
    const name = `${this.#prefix}-${lease}`;
    let release: () => Promise<unknown> = async () => {};
    return {
      acquire: async () => {
        const lock = await this.#tenure.lock(name, { holder: `contender-${number}` });
        release = () => lock.release();
      },
      release: () => release(),
    };
  }

  /** Every write of a term is guarded: there is no other kind. */
  async writer(lane: number): Promise<() => Promise<unknown>> {
    const lock = await this.#tenure.lock(`${this.#prefix}-writer-${lane}`, { wait: false });
    let number = 0;
    return () => lock.guard.put("value", smallValue(number++));
  }

  /** A change is a term that begins: the watches see a new leader. It is ended before the next one. */
  async watched(watchers: number, seen: () => void): Promise<Watched> {
    const name = `${this.#prefix}-watched-${watchers}`;
    let up = 0;
    await new Promise<void>((resolve) => {
      const watch = async () => {
        for await (const { kind } of this.#tenure.observe(name)) {
          if (kind === "leader") seen();
          else {
            up += 1;
            if (up === watchers) resolve();
          }
        }
      };
      for (let watcher = 0; watcher < watchers; watcher += 1) watch().catch(endOfRun);
    });
    let end: () => Promise<unknown> = async () => {};
    return {
      prepare: () => end(),
      change: async () => {
        const lock = await this.#tenure.lock(name, { wait: false });
        end = () => lock.release();
      },
    };
  }

  renewer(leases: number): Promise<Renewer> {
    return Holds.take(this.#tenure.session, `${this.#prefix}-kept`, leases);
  }

  async idle(leases: number): Promise<void> {
    // In a namespace of its own: a partition takes 100,000 leases of one.
    await Holds.take(this.#tenure.session, "idle", leases, `${namespace}-${this.#prefix}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tenure.close();
  }
}

/** The end of a benchmark closes the client under its watches. */
function endOfRun(): void {}
