import { startEtcd } from "../peers/etcd-server.ts";
import { startZooKeeper } from "../peers/zookeeper-server.ts";
import { startRaw } from "./raw-system.ts";
import type { System } from "./system.ts";
import { startTenure } from "./tenure-system.ts";

/** A system, and on how many servers its log is. */
export interface SystemChoice {
  readonly name: "tenure" | "etcd" | "zookeeper" | "raw";
  readonly servers: 1 | 3;
}

/** The systems of a run: each is started when it is first asked for, and shared by all benchmarks that ask for it. */
export class Systems implements AsyncDisposable {
  readonly #started = new Map<string, { readonly choice: SystemChoice; readonly system: Promise<System> }>();
  readonly #descriptions = new Set<string>();
  readonly #tell: (line: string) => void;

  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  /** What was started so far: versions and settings. */
  get descriptions(): readonly string[] {
    return [...this.#descriptions];
  }

  /** Rejects with MissingPeer, every time, for a peer that cannot be had. */
  get(choice: SystemChoice): Promise<System> {
    const key = `${choice.name} on ${choice.servers}`;
    const known = this.#started.get(key);
    if (known !== undefined) return known.system;
    this.#tell(`starting ${key}`);
    const system = this.#start(choice);
    system.then(
      ({ description }) => this.#descriptions.add(description),
      () => {},
    );
    this.#started.set(key, { choice, system });
    return system;
  }

  /** Ends the clusters, which cost CPU also when nobody asks them for anything. */
  async endClusters(): Promise<void> {
    await this.#end(({ servers }) => servers > 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end(() => true);
  }

  #start({ name, servers }: SystemChoice): Promise<System> {
    switch (name) {
      case "tenure":
        return startTenure(servers);
      case "etcd":
        return startEtcd(servers, this.#tell);
      case "zookeeper":
        return startZooKeeper(this.#tell);
      case "raw":
        return startRaw();
    }
  }

  async #end(isMeant: (choice: SystemChoice) => boolean): Promise<void> {
    for (const [key, { choice, system }] of this.#started) {
      if (!isMeant(choice)) continue;
      this.#started.delete(key);
      const running = await system.catch(() => undefined);
      await running?.[Symbol.asyncDispose]();
    }
  }
}
