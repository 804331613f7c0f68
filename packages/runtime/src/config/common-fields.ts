import { type Random, randomBase58 } from "@tenure/kernel";
import { defineConfig } from "./field.ts";
import { keysOf } from "./key.ts";

/** What makes an instance's name unique: the machine, the process, and chance for machines that reuse both. */
export interface InstanceParts {
  readonly hostname: string;
  readonly pid: number;
  readonly random: Random;
}

/** `host-pid-` and 6 base58 digits, with whatever a subject cannot carry in a host's name replaced by dashes. */
export function instanceName({ hostname, pid, random }: InstanceParts): string {
  const host = hostname.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, 63) || "host";
  return `${host}-${pid}-${randomBase58(random, 6)}`;
}

const natsUrlPattern = {
  expression: /^(nats|tls):\/\/[^\s]+$/,
  rule: "must be a URL such as nats://127.0.0.1:4222 or tls://nats-1:4222",
};

/** The fields that every service has. `instance` is the default of the field of that name. */
export function commonFields(instance: string) {
  return defineConfig({
    mode: {
      kind: "choice",
      choices: ["production", "development"],
      default: "production",
      doc: "In production an unsafe NATS deployment stops the service; in development it only warns.",
    },
    natsUrl: {
      kind: "list",
      default: ["nats://127.0.0.1:4222"],
      pattern: natsUrlPattern,
      doc: "NATS servers; any one of them is enough to connect.",
    },
    natsNkeyFile: { kind: "path", doc: "File with the NKEY seed of this service's NATS user." },
    natsSystemNkeyFile: {
      kind: "path",
      doc: "File with the NKEY seed of a user of the NATS system account, through which the boot check reads every server.",
    },
    natsSystemUrl: {
      kind: "list",
      pattern: natsUrlPattern,
      doc: "NATS servers for the system account, where its user signs in by a password in the URL; else nats-url.",
    },
    natsCaFile: { kind: "path", doc: "PEM file with the authorities that sign the NATS servers' certificates." },
    natsCertFile: { kind: "path", doc: "PEM file with the certificate that this service shows to NATS." },
    natsKeyFile: { kind: "path", doc: "PEM file with the private key of nats-cert-file." },
    natsConnectTimeoutMs: {
      kind: "duration",
      default: "10s",
      min: "100ms",
      max: "10m",
      doc: "How long the first connection may take; later ones are tried for ever.",
    },
    httpHost: {
      kind: "string",
      default: "127.0.0.1",
      pattern: { expression: /^[^\s/]+$/, rule: "must be an address or host name" },
      doc: "Address for /livez, /readyz and /metrics; 0.0.0.0 in a container.",
    },
    httpPort: {
      kind: "integer",
      default: 8369,
      min: 0,
      max: 65_535,
      doc: "Port for /livez, /readyz and /metrics; 0 takes any free one.",
    },
    logLevel: {
      kind: "choice",
      choices: ["trace", "debug", "info", "warn", "error", "fatal"],
      default: "info",
      doc: "The least severe lines that are logged.",
    },
    logFormat: {
      kind: "choice",
      choices: ["auto", "json", "pretty"],
      default: "auto",
      doc: "auto is pretty on a terminal and JSON otherwise.",
    },
    stopTimeoutMs: {
      kind: "duration",
      default: "10s",
      min: "100ms",
      max: "10m",
      doc: "How long an orderly stop may take after SIGTERM or SIGINT before the process gives up.",
    },
    instance: {
      kind: "string",
      default: instance,
      pattern: { expression: /^[A-Za-z0-9_-]{1,128}$/, rule: "must be 1 to 128 letters, digits, _ or -" },
      doc: "Name of this process among its replicas; made from host, process and chance when not given.",
    },
  });
}

/** The descriptions of the shared fields. */
export type CommonFields = ReturnType<typeof commonFields>;

/** The variables of the shared fields: set once for a whole deployment, so programs that lack a field tolerate them. */
export const commonVariables: readonly string[] = keysOf(commonFields("instance")).map(
  ({ environment }) => environment,
);
