import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { Fault } from "@tenure/kernel";

/** The services that make a system, in the order in which they start; they stop in the reverse order. */
export const serviceNames = ["lease-store", "identity", "election", "migration", "gateway"] as const;

/** One of Tenure's services. */
export type ServiceName = (typeof serviceNames)[number];

/** A port of the gateway: a number, or `auto` for any free one. */
export type PortChoice = number | "auto";

/** What `npm start` was asked to do. */
export interface LaunchOptions {
  readonly help: boolean;
  readonly fresh: boolean;
  readonly dataFolder: string;
  readonly grpcPort: PortChoice;
  readonly httpPort: PortChoice;
  readonly logLevel: string;
  readonly scale: Readonly<Record<ServiceName, number>>;
}

/** The most replicas of one service that a single machine is asked to run. */
const mostReplicas = 16;

/** What `npm start -- --help` prints. */
export const usage = `usage: npm start -- [options]

Starts NATS and every Tenure service as a process of its own, with data that outlives a stop.

  --scale NAME=N       run N replicas of a service (repeatable); names: ${serviceNames.join(", ")}
  --fresh              forget the data of earlier runs first
  --port N|auto        gRPC port of the gateway (default 8368; auto takes a free one)
  --http-port N|auto   HTTP port of the gateway (default: gRPC port + 1)
  --data DIR           where the data lives (default .tenure/data)
  --log-level LEVEL    trace, debug, info, warn or error (default info)
  --help               this text

An existing NATS server is used instead of an own one with TENURE_NATS_URL=nats://host:4222.`;

/** Reads the command line. Every mistake is an INVALID_ARGUMENT fault that names the flag, the rule and the value. */
export function parseOptions(argv: readonly string[], workingFolder: string): LaunchOptions {
  const { values } = parse(argv);
  const grpcPort = parsePort("--port", values.port ?? "8368");
  const httpPort =
    values["http-port"] === undefined ? nextPort(grpcPort) : parsePort("--http-port", values["http-port"]);
  const logLevel = values["log-level"] ?? "info";
  if (!["trace", "debug", "info", "warn", "error"].includes(logLevel)) {
    throw refused("--log-level", "must be trace, debug, info, warn or error", logLevel);
  }
  return {
    help: values.help ?? false,
    fresh: values.fresh ?? false,
    dataFolder: resolve(workingFolder, values.data ?? ".tenure/data"),
    grpcPort,
    httpPort,
    logLevel,
    scale: parseScale(values.scale ?? []),
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      strict: true,
      options: {
        help: { type: "boolean" },
        fresh: { type: "boolean" },
        data: { type: "string" },
        port: { type: "string" },
        "http-port": { type: "string" },
        "log-level": { type: "string" },
        scale: { type: "string", multiple: true },
      },
    });
  } catch (cause) {
    const message = `${(cause as Error).message.split(".")[0]}; see npm start -- --help`;
    throw new Fault({ code: "INVALID_ARGUMENT", reason: "INVALID_FLAG", message, cause });
  }
}

function parsePort(flag: string, text: string): PortChoice {
  if (text === "auto") return "auto";
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw refused(flag, "must be auto or a port from 1 to 65535", text);
  return port;
}

function nextPort(port: PortChoice): PortChoice {
  return port === "auto" || port === 65_535 ? "auto" : port + 1;
}

function parseScale(entries: readonly string[]): Record<ServiceName, number> {
  const scale = Object.fromEntries(serviceNames.map((name) => [name, 1])) as Record<ServiceName, number>;
  for (const entry of entries) {
    const [name = "", count = ""] = entry.split("=");
    if (!isServiceName(name)) throw refused("--scale", `must name one of ${serviceNames.join(", ")}`, entry);
    if (!/^\d+$/.test(count) || Number(count) < 1 || Number(count) > mostReplicas) {
      throw refused("--scale", `must be NAME=N with N from 1 to ${mostReplicas}`, entry);
    }
    scale[name] = Number(count);
  }
  return scale;
}

function isServiceName(name: string): name is ServiceName {
  return (serviceNames as readonly string[]).includes(name);
}

function refused(field: string, rule: string, value: string): Fault {
  const message = `${field} ${rule} (got ${JSON.stringify(value)})`;
  return new Fault({
    code: "INVALID_ARGUMENT",
    reason: "INVALID_FLAG",
    message,
    details: { violations: [{ field, rule, value }] },
  });
}
