import { PartialClient } from "../partial-client.ts";
import type { Contender } from "../peer-client.ts";
import { createModes, ZooKeeperSession } from "./zookeeper-session.ts";

/** ZooKeeper's ephemeral nodes and its lock recipe, over one session. */
export class ZooKeeperClient extends PartialClient {
  readonly #session: ZooKeeperSession;
  readonly #root: string;

  private constructor(session: ZooKeeperSession, root: string) {
    super();
    this.#session = session;
    this.#root = root;
  }

  static async open(endpoint: string): Promise<ZooKeeperClient> {
    const session = await ZooKeeperSession.open(endpoint);
    const root = await session.create(`/bench-${process.pid}`, createModes.persistent);
    return new ZooKeeperClient(session, root);
  }

  /** An ephemeral node, made and deleted: both are in the log. */
  override async pair(lane: number): Promise<void> {
    const path = `${this.#root}/pair-${lane}`;
    await this.#session.create(path, createModes.ephemeral);
    await this.#session.delete(path);
  }

  /** By ZooKeeper's lock recipe: a sequential ephemeral node, and a watch on the one before it. */
  override async contender(lease: string, number: number): Promise<Contender> {
    const folder = `${this.#root}/${lease}`;
    if (number === 0) await this.#session.create(folder, createModes.persistent);
    let own = "";
    return {
      acquire: async () => {
        own = await this.#session.create(`${folder}/lock-`, createModes.ephemeralSequential);
        await this.#whenFirst(folder, own);
      },
      release: () => this.#session.delete(own),
    };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#session[Symbol.asyncDispose]();
  }

  async #whenFirst(folder: string, own: string): Promise<void> {
    const name = own.slice(folder.length + 1);
    for (;;) {
      const before = (await this.#session.children(folder)).filter((child) => child < name).sort();
      const last = before.at(-1);
      if (last === undefined) return;
      await new Promise<void>((resolve, reject) => {
        this.#session.exists(`${folder}/${last}`, resolve).then((isThere) => isThere || resolve(), reject);
      });
    }
  }
}
