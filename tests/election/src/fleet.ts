import { fileURLToPath } from "node:url";
import type { Random } from "@tenure/kernel";
import type { CampaignOptions, CoordinatedOptions } from "@tenure/sdk";
import { type ManagedProcess, startProcess, waitFor } from "@tenure/testkit";

const program = fileURLToPath(new URL("../programs/node.mjs", import.meta.url));

/** A term of a node, as the node itself timed it on the machine's monotonic clock. */
export interface Led {
  readonly name: string;
  readonly version: string;
  readonly token: bigint;
  readonly fromNs: bigint;
  /** When its function returned, or its process was gone; undefined while it leads. */
  untilNs: bigint | undefined;
}

/** How a node leads; everything that can be written down. */
export type NodeOptions = Pick<CampaignOptions, "coordinated" | "holderKey" | "takeOver"> & {
  readonly keyComparison?: "highestVersion" | "lowestVersion" | "highestNumber";
};

/** One process that stands for the fleet's lease. */
class Node {
  readonly process: ManagedProcess;
  readonly options: NodeOptions;
  /** Its compatibility version, or its key. */
  readonly version: string;
  isUp = false;

  constructor(fleet: Fleet, name: string, options: NodeOptions) {
    const { coordinated, holderKey = "" } = options;
    const version = coordinated?.compatibilityVersion ?? coordinated?.binaryVersion ?? holderKey;
    this.options = options;
    this.version = version;
    const args = [program, name, fleet.endpoint, fleet.lease, JSON.stringify(options)];
    this.process = startProcess(process.execPath, { name, args });
    this.process.output.onLine((line) => {
      if (!line.startsWith("{")) return;
      const { atNs, event, token } = JSON.parse(line) as { atNs: string; event: string; token: string };
      if (event === "up") this.isUp = true;
      if (event === "leads") {
        fleet.led.push({ name, version, token: BigInt(token), fromNs: BigInt(atNs), untilNs: undefined });
      }
      if (event === "stops") fleet.end(BigInt(token), BigInt(atNs));
    });
  }
}

/** Processes that stand for one lease. */
export class Fleet implements AsyncDisposable {
  readonly endpoint: string;
  readonly lease: string;
  /** Every term, in the order of their tokens. */
  readonly led: Led[] = [];
  readonly #nodes = new Map<string, Node>();

  constructor(endpoint: string, lease: string) {
    this.endpoint = endpoint;
    this.lease = lease;
  }

  /** Who leads now; undefined if nobody does. */
  get leader(): Led | undefined {
    return this.led.findLast(({ untilNs }) => untilNs === undefined);
  }

  /** The pairs of terms of which the later began before the earlier had ended; there must be none. */
  get overlaps(): readonly string[] {
    const terms = this.led.toSorted((left, right) => Number(left.token - right.token));
    return terms.flatMap((term, place) => {
      const next = terms[place + 1];
      const isOver = next === undefined || (term.untilNs !== undefined && term.untilNs <= next.fromNs);
      return isOver ? [] : [`${term.name} (${term.token}) and ${next.name} (${next.token})`];
    });
  }

  /** The versions that led, in order, each told once for all its terms in a row. */
  get versions(): readonly string[] {
    const terms = this.led.toSorted((left, right) => Number(left.token - right.token));
    return terms.flatMap(({ version }, place) => (terms[place - 1]?.version === version ? [] : [version]));
  }

  /** Starts a coordinated node and waits until it is connected. */
  async start(name: string, coordinated: CoordinatedOptions): Promise<void> {
    await this.run(name, { coordinated });
  }

  /** Starts a node and waits until it is connected. */
  async run(name: string, options: NodeOptions): Promise<void> {
    const node = new Node(this, name, options);
    this.#nodes.set(name, node);
    const fallen = node.process.ended.then(() => {
      throw new Error(`${name} ended:\n${node.process.output.tail()}`);
    });
    fallen.catch(() => undefined);
    const up = waitFor(() => node.isUp, { timeoutMs: 60_000, intervalMs: 5, describe: `${name} to connect` });
    await Promise.race([up, fallen]);
  }

  /** Stops a node as an upgrade does: it withdraws, finishes and hands over. */
  async stop(name: string): Promise<void> {
    const node = this.#node(name);
    this.#nodes.delete(name);
    node.process.terminate();
    const exit = await node.process.waitForExit();
    if (exit.code !== 0) throw new Error(`${name} ended with ${exit.code}:\n${node.process.output.tail()}`);
  }

  /** Ends a node at once, as a crash does. */
  async kill(name: string): Promise<void> {
    const node = this.#node(name);
    this.#nodes.delete(name);
    await node.process.kill9();
    const gone = process.hrtime.bigint();
    for (const term of this.led) if (term.name === name && term.untilNs === undefined) term.untilNs = gone;
  }

  /** Replaces a node by one of another version, under the same name. */
  async replace(name: string, options: CoordinatedOptions): Promise<void> {
    await this.stop(name);
    await this.start(name, options);
  }

  /** Waits until a node leads, in a later term than `above`. */
  async leads(name: string, above = 0n, timeoutMs = 60_000): Promise<Led> {
    const look = () => (this.leader?.name === name && this.leader.token > above ? this.leader : undefined);
    return await waitFor(look, { timeoutMs, intervalMs: 2, describe: `${name} to lead ${this.lease}` });
  }

  /** Waits until a node of a version leads. */
  async ledBy({ binaryVersion }: { readonly binaryVersion: string }): Promise<Led> {
    const look = () => (this.leader?.version === binaryVersion ? this.leader : undefined);
    return await waitFor(look, {
      timeoutMs: 120_000,
      intervalMs: 2,
      describe: `${binaryVersion} to lead ${this.lease}`,
    });
  }

  /** Kills a node whose version others have, too, and starts it again. */
  async crashOne(random: Random): Promise<void> {
    const nodes = [...this.#nodes];
    const spare = nodes.filter(([name, { version }]) =>
      nodes.some(([other, { version: same }]) => other !== name && same === version),
    );
    const [name, node] = spare[Math.floor(random.next() * spare.length)] ?? [];
    if (name === undefined || node === undefined) return;
    await this.kill(name);
    await this.run(name, node.options);
  }

  end(token: bigint, atNs: bigint): void {
    const term = this.led.find((one) => one.token === token);
    if (term !== undefined) term.untilNs = atNs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const nodes = [...this.#nodes.values()];
    this.#nodes.clear();
    await Promise.all(nodes.map(({ process: one }) => one[Symbol.asyncDispose]()));
  }

  #node(name: string): Node {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name} runs`);
    return node;
  }
}
