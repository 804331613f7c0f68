import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { endGroup, signalGroup } from "./process-group.ts";
import type { MachineInstant, Role, WatchdogNews, WatchdogOrder } from "./watchdog-messages.ts";

/** How a program ended. */
export type ProgramEnd =
  | { readonly kind: "ended"; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly kind: "not-started"; readonly why: string }
  /** The term was over before it could be started. */
  | { readonly kind: "too-late" }
  /** The watchdog died, so this process killed the group and cannot say how the program ended. */
  | { readonly kind: "unwatched" };

/** What is started. */
export interface ProgramStart {
  readonly role: Role;
  readonly program: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly deadline: MachineInstant;
}

const watchdogFile = fileURLToPath(new URL("./watchdog.js", import.meta.url));

/**
 * Runs programs through a watchdog process that outlives this one for as long as it must. Both can kill the programs'
 * groups: the watchdog when this process stands still, this process when the watchdog is gone or stands still.
 */
export class GuardedProgram implements Disposable {
  readonly #watchdog: ChildProcess;
  readonly #groups = new Map<Role, number>();
  readonly #ends = new Map<Role, (end: ProgramEnd) => void>();
  /** Signals to a program of which it is not known yet that it runs. */
  readonly #early = new Set<NodeJS.Signals>();

  constructor() {
    this.#watchdog = spawn(process.execPath, [watchdogFile], {
      detached: true,
      stdio: ["inherit", "inherit", "inherit", "ipc"],
    });
    this.#watchdog.on("message", (news: WatchdogNews) => this.#hear(news));
    this.#watchdog.on("error", () => undefined);
    // Unlike its exit this comes also when it could not be started.
    this.#watchdog.once("disconnect", () => void this.#onUnwatched());
  }

  /** Starts a program; resolves with its end. One of each role at a time. */
  run(start: ProgramStart): Promise<ProgramEnd> {
    return new Promise((resolve) => {
      this.#ends.set(start.role, resolve);
      if (start.role === "main") this.#early.clear();
      if (this.#watchdog.connected) this.#order({ kind: "start", ...start });
      else void this.#onUnwatched();
    });
  }

  /** Whether the watchdog is there: without it nothing can be started. */
  get isWatched(): boolean {
    return this.#watchdog.connected;
  }

  /** Every group must be gone at this instant, whatever was said before. */
  set deadline(deadline: MachineInstant) {
    this.#order({ kind: "deadline", deadline });
  }

  /** Signals the program and whatever it started, as soon as it runs. */
  signal(signal: NodeJS.Signals): void {
    const groupId = this.#groups.get("main");
    if (groupId !== undefined) signalGroup(groupId, signal);
    else if (this.#ends.has("main")) this.#early.add(signal);
  }

  /** Kills everything without the watchdog, which is ended too: for one that does not do so itself. */
  killAll(): void {
    for (const groupId of this.#groups.values()) signalGroup(groupId, "SIGKILL");
    this.#watchdog.kill("SIGKILL");
  }

  /** Lets the watchdog go. What still runs is asked to stop, and killed at its deadline. */
  [Symbol.dispose](): void {
    this.#watchdog.removeAllListeners("disconnect");
    if (this.#watchdog.connected) this.#watchdog.disconnect();
    this.#watchdog.unref();
  }

  #order(order: WatchdogOrder): void {
    if (this.#watchdog.connected) this.#watchdog.send(order, () => undefined);
  }

  #hear(news: WatchdogNews): void {
    if (news.kind === "started") {
      this.#groups.set(news.role, news.groupId);
      if (news.role === "main") for (const signal of this.#early) signalGroup(news.groupId, signal);
      return;
    }
    const { role, ...end } = news;
    this.#groups.delete(role);
    this.#ends.get(role)?.(end);
    this.#ends.delete(role);
  }

  async #onUnwatched(): Promise<void> {
    this.killAll();
    await Promise.all([...this.#groups.values()].map(endGroup));
    this.#groups.clear();
    for (const tell of this.#ends.values()) tell({ kind: "unwatched" });
    this.#ends.clear();
  }
}
