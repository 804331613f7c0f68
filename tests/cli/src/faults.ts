import type { Deployment } from "@tenure/testkit";
import type { ExecPair, Host } from "./exec-pair.ts";

/** What may happen to the host whose program runs. */
export interface ExecFault {
  readonly name: string;
  /** Whether another term must follow; a restart of the gateway may pass without one. */
  readonly movesLease: boolean;
  strike(pair: ExecPair, host: Host): Promise<void> | void;
}

/** Pairs that share a deployment restart its gateway one after the other. */
let restarted = Promise.resolve();

async function restartGateway(deployment: Deployment): Promise<void> {
  await deployment.process("gateway-1").kill9();
  await deployment.start("gateway", "gateway-1");
  await deployment.ready();
}

/** Everything that the command line must survive without two programs at once. */
export const execFaults: readonly ExecFault[] = [
  { name: "is stopped past its term (SIGSTOP)", movesLease: true, strike: (_, { exec }) => exec.pause() },
  { name: "is cut off from the gateway", movesLease: true, strike: (_, { proxy }) => proxy.cut() },
  { name: "is killed (SIGKILL)", movesLease: true, strike: async (_, { exec }) => void (await exec.kill9()) },
  {
    name: "is asked to stop while its program ignores SIGTERM",
    movesLease: true,
    async strike(_, { exec }) {
      exec.terminate();
      await exec.waitForExit({ timeoutMs: 60_000 });
    },
  },
  {
    name: "loses its watchdog (SIGKILL)",
    movesLease: true,
    strike: (pair, host) => pair.signalWatchdog(host, "SIGKILL"),
  },
  {
    name: "has its watchdog stopped and is then cut off",
    movesLease: true,
    strike(pair, host) {
      pair.signalWatchdog(host, "SIGSTOP");
      host.proxy.cut();
    },
  },
  {
    name: "sees the gateway restart",
    movesLease: false,
    strike({ deployment }) {
      restarted = restarted.then(() => restartGateway(deployment));
      return restarted;
    },
  },
];
