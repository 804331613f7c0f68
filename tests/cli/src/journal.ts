import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { processState, type TempDirectory, tempDirectory } from "@tenure/testkit";

/** When the processes of one term were seen alive, on the clock that all processes of the machine share. */
export interface Acting {
  readonly token: bigint;
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly pids: readonly number[];
}

/** The file in which programs/beats.mjs writes that it lives. */
export class Journal implements AsyncDisposable {
  readonly file: string;
  readonly #folder: TempDirectory;

  private constructor(folder: TempDirectory) {
    this.#folder = folder;
    this.file = join(folder.path, "journal");
    writeFileSync(this.file, "");
  }

  static async create(): Promise<Journal> {
    return new Journal(await tempDirectory());
  }

  /** Every term that acted, in the order of tokens. */
  get terms(): readonly Acting[] {
    const found = new Map<bigint, { firstNs: bigint; lastNs: bigint; pids: Set<number> }>();
    for (const line of readFileSync(this.file, "utf8").split("\n").slice(0, -1)) {
      const [token = 0n, pid = 0n, atNs = 0n] = line.split(" ").map(BigInt);
      const known = found.get(token) ?? { firstNs: atNs, lastNs: atNs, pids: new Set() };
      const firstNs = atNs < known.firstNs ? atNs : known.firstNs;
      const lastNs = atNs > known.lastNs ? atNs : known.lastNs;
      found.set(token, { firstNs, lastNs, pids: known.pids.add(Number(pid)) });
    }
    return [...found]
      .toSorted(([left], [right]) => Number(left - right))
      .map(([token, { pids, ...times }]) => ({ token, ...times, pids: [...pids] }));
  }

  /** Pairs of terms that acted at the same time; there must be none. */
  get overlaps(): readonly string[] {
    const { terms } = this;
    return terms.flatMap((later, index) =>
      terms
        .slice(0, index)
        .filter(({ lastNs }) => lastNs >= later.firstNs)
        .map(({ lastNs, token }) => `${token} acted ${Number(lastNs - later.firstNs) / 1e6} ms into ${later.token}`),
    );
  }

  /** The processes of all terms but the newest, or of all, that still run. */
  async leftOver(options: { readonly all?: boolean } = {}): Promise<readonly number[]> {
    const terms = options.all === true ? this.terms : this.terms.slice(0, -1);
    const pids = terms.flatMap((term) => term.pids);
    const states = await Promise.all(pids.map(processState));
    return pids.filter((_, index) => states[index] !== "gone");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of await this.leftOver({ all: true })) process.kill(pid, "SIGKILL");
    await this.#folder[Symbol.asyncDispose]();
  }
}
