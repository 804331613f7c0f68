import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connect, type Tenure } from "@tenure/sdk";
import { type Deployment, startDeployment, type TempDirectory, tempDirectory, waitFor } from "@tenure/testkit";

const execute = promisify(execFile);
const binFolder = fileURLToPath(new URL("../../../packages/cli/bin", import.meta.url));

/** What docs/elections.md tells about: two releases of a scheduler that stand for one lease. */
export class ElectionScene implements AsyncDisposable {
  readonly folder: TempDirectory;
  readonly #deployment: Deployment;
  readonly #clients: Tenure[] = [];
  readonly #stop = new AbortController();

  private constructor(deployment: Deployment, folder: TempDirectory) {
    this.#deployment = deployment;
    this.folder = folder;
  }

  static async open(): Promise<ElectionScene> {
    const services = { "lease-store": 1, gateway: 1, election: 1 };
    return new ElectionScene(await startDeployment({ services }), await tempDirectory());
  }

  /** What a user sees, on both outputs, of a line typed into a shell in the scene's folder. */
  async type(line: string): Promise<string> {
    const env = {
      ...process.env,
      PATH: `${binFolder}:${process.env.PATH}`,
      TENURE_ENDPOINT: this.#deployment.grpc(),
      TENURE_CONFIG: "/nonexistent/config.yaml",
      COLUMNS: "80",
    };
    // Whatever it ends with: the text says what went wrong.
    const command = `{ ${line}; } 2>&1 || true`;
    return (await execute("sh", ["-c", command], { cwd: this.folder.path, env })).stdout;
  }

  /** Stands for billing/scheduler from now on, and leads whenever it is chosen. */
  async stand(identity: string, binaryVersion: string): Promise<void> {
    const reach = { endpoint: this.#deployment.grpc(), connectTimeout: "60s", renewal: "inline" } as const;
    const tenure = await connect({ ...reach, identity });
    this.#clients.push(tenure);
    const options = { signal: this.#stop.signal, coordinated: { binaryVersion, zone: "north" } };
    void tenure
      .lead("billing/scheduler", options, async ({ signal }) => {
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      })
      .catch(() => undefined);
    const candidates = () => this.type("tenure candidates list billing/scheduler -o name");
    await waitFor(async () => (await candidates()).includes(identity), { timeoutMs: 60_000 });
  }

  /** Until this one leads. */
  async led(identity: string): Promise<void> {
    const leader = () => this.type("tenure leader billing/scheduler");
    await waitFor(async () => (await leader()) === `${identity}\n`, { timeoutMs: 60_000 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#clients.map((tenure) => tenure.close()));
    await this.#deployment[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}
