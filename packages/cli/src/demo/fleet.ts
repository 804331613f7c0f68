import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const mainFile = fileURLToPath(new URL("../main.js", import.meta.url));

/** A node of the fleet: one `tenure exec`. */
export interface FleetNode {
  readonly name: string;
  readonly version: string;
  readonly process: ChildProcess;
}

/** Nodes that run one program under one lease, each the process that an operator would start. */
export class Fleet implements AsyncDisposable {
  readonly nodes = new Map<string, FleetNode>();
  readonly #endpoint: string;
  readonly #lease: string;

  constructor(endpoint: string, lease: string) {
    this.#endpoint = endpoint;
    this.#lease = lease;
  }

  /** The command line of a node, for people and for its process alike. */
  commandLine(name: string, version: string): readonly string[] {
    const identity = ["--identity", name, "--coordinated", "--binary-version", version];
    return ["exec", this.#lease, ...identity, "--lease-duration", "8s", "--restart", "--quiet", "--", "sleep", "3600"];
  }

  /** The same on lines that fit a terminal. */
  commandText(name: string, version: string): readonly string[] {
    const words = this.commandLine(name, version);
    const second = words.indexOf("--coordinated");
    const third = words.indexOf("--lease-duration");
    const parts = [words.slice(0, second), words.slice(second, third), words.slice(third)];
    const text = parts.map((part) => part.join(" ")).join(" \\\n    ");
    return `  tenure ${text}`.split("\n");
  }

  /** Starts a node. */
  start(name: string, version: string): void {
    const env = { ...process.env, TENURE_ENDPOINT: this.#endpoint };
    const child = spawn(process.execPath, [mainFile, ...this.commandLine(name, version)], { stdio: "ignore", env });
    this.nodes.set(name, { name, version, process: child });
    child.once("exit", () => {
      if (this.nodes.get(name)?.process === child) this.nodes.delete(name);
    });
  }

  /** Ends a node by a signal and waits until it is gone. */
  async end(name: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.nodes.get(name)?.process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.nodes.keys()].map((name) => this.end(name, "SIGTERM")));
  }
}
