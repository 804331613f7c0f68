import { fileURLToPath } from "node:url";
import { type ManagedProcess, startScript } from "@tenure/testkit";

const start = fileURLToPath(new URL("../../../packages/launcher/dist/start.js", import.meta.url));

/** A system that `npm start` has brought up. */
export interface Launched extends AsyncDisposable {
  readonly process: ManagedProcess;
  /** `host:port` of gRPC. */
  readonly grpc: string;
  /** `http://host:port` of health and metrics. */
  readonly http: string;
  /** Stops it as Ctrl-C does and gives the exit code. */
  interrupt(): Promise<number | null>;
}

/** Starts the launcher as `npm start` does; the caller reads what it prints. */
export function spawnLauncher(args: readonly string[], env: Record<string, string> = {}): ManagedProcess {
  const server = process.env.TENURE_NATS_SERVER;
  return startScript(start, {
    name: "npm start",
    args,
    env: { ...(server === undefined ? {} : { TENURE_NATS_SERVER: server }), ...env },
  });
}

/** Starts a system on free ports with its data in `folder`, and waits for its ready block. */
export async function launch(
  folder: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Launched> {
  const process = spawnLauncher(["--port", "auto", "--data", folder, ...args], env);
  await process.waitForLine("Tenure is ready", { timeoutMs: 120_000 });
  await process.waitForLine("Ctrl-C stops everything");
  const text = process.output.all.join("\n");
  return {
    process,
    grpc: capture(text, /gRPC +(\S+:\d+)/),
    http: capture(text, /HTTP +(http:\S+)/),
    async interrupt() {
      globalThis.process.kill(process.pid, "SIGINT");
      return (await process.waitForExit({ timeoutMs: 60_000 })).code;
    },
    async [Symbol.asyncDispose]() {
      await process.stop(60_000);
    },
  };
}

function capture(text: string, pattern: RegExp): string {
  const [, found] = pattern.exec(text) ?? [];
  if (found === undefined) throw new Error(`no ${pattern} in:\n${text}`);
  return found;
}
