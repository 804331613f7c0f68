import type { Bus } from "@tenure/bus";
import { atEndOfTurn } from "@tenure/kernel";
import { PartialClient } from "../partial-client.ts";
import type { Contender } from "../peer-client.ts";
import { connectRaw } from "./connect.ts";

/** Where a process takes changes for the log, and where it says how many are done: a byte for each. */
export const logSubjects = { there: "bench.log.", back: "bench.logged." } as const;
/** The size of one change. */
export const changeBytes = 100;

/**
 * Durable changes by another process, with nothing of Tenure in them: those of a turn travel in one message and share an
 * append. What any service over this bus and this log can do at most.
 */
export class LogChanges extends PartialClient {
  readonly #bus: Bus;
  readonly #subject: string;
  readonly #waiting: (() => void)[] = [];
  readonly #line: (() => void)[] = [];
  #isHeld = false;
  #unsent = 0;

  private constructor(bus: Bus) {
    super();
    this.#bus = bus;
    this.#subject = `${logSubjects.there}${bus.instance}`;
    bus.subscribe(`${logSubjects.back}${bus.instance}`, (done) => {
      for (const tell of this.#waiting.splice(0, done.length)) tell();
    });
  }

  static async open(url: string): Promise<LogChanges> {
    return new LogChanges(await connectRaw(url));
  }

  /** Two changes, as an acquire and a release are. */
  override async pair(): Promise<void> {
    await this.#change();
    await this.#change();
  }

  /** Nobody decides who is next: a release is a change, and once it is in the log the first in line knows. */
  override async contender(): Promise<Contender> {
    return {
      acquire: () =>
        new Promise((resolve) => {
          this.#line.push(resolve);
          this.#grant();
        }),
      release: async () => {
        await this.#change();
        this.#isHeld = false;
        this.#grant();
      },
    };
  }

  override async writer(): Promise<() => Promise<unknown>> {
    return () => this.#change();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#bus.drain();
  }

  #grant(): void {
    if (this.#isHeld) return;
    const next = this.#line.shift();
    this.#isHeld = next !== undefined;
    next?.();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#unsent += 1;
      if (this.#unsent === 1) atEndOfTurn(() => this.#send());
    });
  }

  #send(): void {
    this.#bus.publish(this.#subject, Buffer.alloc(this.#unsent * changeBytes, 7));
    this.#unsent = 0;
  }
}
