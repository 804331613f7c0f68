import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { defaultIdentityNamespace, identityNamespacePattern } from "@tenure/core";
import type { Fault } from "@tenure/kernel";
import { configFault, defineConfig } from "@tenure/runtime";
import { Policy } from "./policy/policy.ts";
import { readPolicyText } from "./policy/policy-file.ts";

/** What the gateway has beside the fields of every service. */
export const gatewayFields = defineConfig({
  grpcHost: {
    kind: "string",
    default: "127.0.0.1",
    pattern: { expression: /^[^\s/]+$/, rule: "must be an address or host name" },
    doc: "Address for gRPC. Anything but loopback needs TLS, or insecure.",
  },
  grpcPort: { kind: "integer", default: 8368, min: 0, max: 65_535, doc: "Port for gRPC; 0 takes any free one." },
  tlsCertFile: { kind: "path", doc: "PEM file with the gateway's certificate chain; turns TLS on." },
  tlsKeyFile: { kind: "path", doc: "PEM file with the private key of tls-cert-file." },
  tlsClientCaFile: {
    kind: "path",
    doc: "PEM file with the authorities of clients' certificates; with it every client needs one, whose first URI SAN is its principal.",
  },
  policyFile: {
    kind: "path",
    doc: "YAML or JSON file that says which principals may do what; without it every client with a certificate may do everything.",
  },
  insecure: {
    kind: "boolean",
    default: false,
    doc: "Serve gRPC without TLS beyond loopback: anyone on that network can read and change everything.",
  },
  maxRequestBytes: limit(65_536, "Largest request of a plain call, in bytes.", 4_000_000),
  maxSessionMessageBytes: limit(1_048_576, "Largest message of a session, in bytes.", 4_000_000),
  streamsPerConnection: limit(100, "Calls and streams that one connection may have open."),
  requestsPerSecond: {
    kind: "integer",
    default: 50_000,
    min: 0,
    max: 10_000_000,
    doc: "Calls and messages of streams that one connection, and one session, may make in a second; 0 is no limit.",
  },
  openCallsPerSession: limit(10_000, "Calls that one session may have open."),
  streamsPerSession: limit(1_000, "Server streams that one session may have open."),
  queuedBytesPerSession: limit(16_777_216, "Bytes that may wait for a session's client that reads slowly.", 1e9),
  watchers: limit(10_000, "Watches that this gateway serves at once."),
  queuedPerWatcher: limit(4_096, "Batches that wait for one watcher before it is cut off."),
  identityNamespace: {
    kind: "string",
    default: defaultIdentityNamespace,
    pattern: identityNamespacePattern,
    doc: "The namespace of the leases that are identities, as the identity services have it.",
  },
  keptChanges: limit(10_000, "Changed records kept for watches that resume; none while more change in a second."),
});

function limit(value: number, doc: string, max = 10_000_000) {
  return { kind: "integer", default: value, min: 1, max, doc } as const;
}

/** The part of the configuration that decides how gRPC is reached. */
export interface ListenerConfig {
  readonly grpcHost: string;
  readonly tlsCertFile?: string | undefined;
  readonly tlsKeyFile?: string | undefined;
  readonly tlsClientCaFile?: string | undefined;
  readonly policyFile?: string | undefined;
  readonly insecure: boolean;
}

const loopback = /^(127\.\d+\.\d+\.\d+|localhost|::1|\[::1\])$/;

/** What the listener speaks TLS with, as PEM texts. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** The authorities of clients' certificates; absent asks no client for one. */
  readonly ca?: Buffer;
}

/**
 * What gRPC speaks TLS with; undefined for plain. Throws a configuration fault when gRPC would be open to a network by
 * mistake, when half of the pair is missing, or when the files cannot be read or do not belong together.
 */
export function readTls(config: ListenerConfig): TlsFiles | undefined {
  const { grpcHost, tlsCertFile, tlsClientCaFile, tlsKeyFile, insecure } = config;
  if (tlsCertFile === undefined && tlsKeyFile === undefined) {
    if (tlsClientCaFile !== undefined) throw needs("tls-client-ca-file", "tls-cert-file and tls-key-file");
    if (!loopback.test(grpcHost) && !insecure) throw openToNetwork(grpcHost);
    return undefined;
  }
  if (tlsKeyFile === undefined) throw wrong("tls-key-file", "must be set, because tls-cert-file is");
  if (tlsCertFile === undefined) throw wrong("tls-cert-file", "must be set, because tls-key-file is");
  const pair = { cert: readText("tls-cert-file", tlsCertFile), key: readText("tls-key-file", tlsKeyFile) };
  try {
    createSecureContext(pair);
  } catch (cause) {
    throw wrong("tls-cert-file", `and tls-key-file must be a PEM certificate and its key: ${(cause as Error).message}`);
  }
  return tlsClientCaFile === undefined ? pair : { ...pair, ca: readAuthorities(tlsClientCaFile) };
}

const certificates = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** TLS ignores what it cannot read in such a file, and would then refuse everyone. */
function readAuthorities(path: string): Buffer {
  const key = "tls-client-ca-file";
  const pem = readText(key, path);
  const found = pem.toString("latin1").match(certificates) ?? [];
  if (found.length === 0) throw wrong(key, "must have a PEM certificate in it", JSON.stringify(path));
  found.forEach((one, place) => {
    try {
      new X509Certificate(one);
    } catch (cause) {
      const rule = `must have nothing but PEM certificates in it: number ${place + 1} is none: ${(cause as Error).message}`;
      throw wrong(key, rule, JSON.stringify(path));
    }
  });
  return pem;
}

/**
 * What principals may do; undefined where everyone who may connect may do everything. Throws a configuration fault with
 * every mistake of the file, and for a policy where nobody is told from another.
 */
export function readPolicy({ policyFile, tlsClientCaFile }: ListenerConfig): Policy | undefined {
  if (policyFile === undefined) return undefined;
  if (tlsClientCaFile === undefined) throw needs("policy-file", "tls-client-ca-file");
  const read = readPolicyText(readText("policy-file", policyFile).toString(), policyFile);
  if ("problems" in read) throw configFault(read.problems);
  return new Policy(read.rules);
}

/** Reads what decides how gRPC is reached and by whom; throws a configuration fault. */
export function checkListener(config: ListenerConfig): void {
  readTls(config);
  readPolicy(config);
}

function readText(key: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw wrong(key, `must be a readable file: ${(cause as NodeJS.ErrnoException).code}`, JSON.stringify(path));
  }
}

function needs(key: string, other: string): Fault {
  return wrong(key, `needs ${other} to be set, too`);
}

function openToNetwork(host: string): Fault {
  const choices = "set tls-cert-file and tls-key-file, keep 127.0.0.1, or accept the risk with insecure";
  return wrong("grpc-host", `without TLS would be open to its network: ${choices}`, host);
}

function wrong(where: string, rule: string, value?: string): Fault {
  return configFault([{ where, rule, ...(value === undefined ? {} : { value }) }]);
}
