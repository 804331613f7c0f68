import type { LaunchOptions } from "./options.ts";
import { serviceNames } from "./options.ts";

/** What the block tells of. */
export interface Running {
  readonly grpcPort: number;
  readonly httpPort: number;
  /** For example `2.15.1 at nats://127.0.0.1:40123`. */
  readonly nats: string;
  readonly dataFolder: string;
  readonly tookMs: number;
  readonly scale: LaunchOptions["scale"];
  /** Whether an earlier run's data was found. */
  readonly continued: boolean;
}

/** The one block that `npm start` prints when the whole system serves: what runs where, and what to try next. */
export function readyBlock(running: Running): string {
  const { grpcPort, httpPort, nats, dataFolder, tookMs, scale, continued } = running;
  const services = serviceNames.map((name) => (scale[name] === 1 ? name : `${name} ×${scale[name]}`)).join("  ");
  const http = `http://127.0.0.1:${httpPort}`;
  const tenure = `${grpcPort === 8368 ? "" : `TENURE_ENDPOINT=127.0.0.1:${grpcPort} `}npx tenure`;
  return `
  Tenure is ready (${(tookMs / 1000).toFixed(1)} s)

    gRPC      127.0.0.1:${grpcPort}   no TLS: reachable from this machine only
    HTTP      ${http}   /readyz  /livez  /metrics
    NATS      ${nats}
    services  ${services}
    data      ${dataFolder}${continued ? " (continued from the last run)" : " (new)"}

  Try next
    ${tenure} exec demo/worker -- sleep 600
                                  and the same in another terminal
    ${tenure} status
    curl ${http}/readyz

  Ctrl-C stops everything in order and keeps the data; --fresh forgets it.
`;
}
