import { closeSync, fstatSync, openSync, readSync, writeFileSync } from "node:fs";
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
  readonly #terms = new Map<bigint, Acting>();
  #readBytes = 0;

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
    this.#readOn();
    return [...this.#terms.values()].toSorted((left, right) => Number(left.token - right.token));
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

  /** Reads what was written since the last look: the file grows for as long as a series runs. */
  #readOn(): void {
    const file = openSync(this.file, "r");
    const bytes = Buffer.alloc(fstatSync(file).size - this.#readBytes);
    readSync(file, bytes, 0, bytes.length, this.#readBytes);
    closeSync(file);
    const whole = bytes.subarray(0, bytes.lastIndexOf("\n") + 1);
    this.#readBytes += whole.length;
    for (const line of whole.toString().split("\n").slice(0, -1)) this.#note(line);
  }

  #note(line: string): void {
    const [token = 0n, pid = 0n, atNs = 0n] = line.split(" ").map(BigInt);
    const begun: Acting = { token, firstNs: atNs, lastNs: atNs, pids: [] };
    const { firstNs, lastNs, pids } = this.#terms.get(token) ?? begun;
    this.#terms.set(token, {
      token,
      firstNs: atNs < firstNs ? atNs : firstNs,
      lastNs: atNs > lastNs ? atNs : lastNs,
      pids: pids.includes(Number(pid)) ? pids : [...pids, Number(pid)],
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of await this.leftOver({ all: true })) process.kill(pid, "SIGKILL");
    await this.#folder[Symbol.asyncDispose]();
  }
}
