import type { Fault } from "@tenure/kernel";
import { configFault, defineConfig } from "@tenure/runtime";

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
  insecure: {
    kind: "boolean",
    default: false,
    doc: "Serve gRPC without TLS beyond loopback: anyone on that network can read and change everything.",
  },
});

/** The part of the configuration that decides how gRPC is reached. */
export interface ListenerConfig {
  readonly grpcHost: string;
  readonly tlsCertFile?: string | undefined;
  readonly tlsKeyFile?: string | undefined;
  readonly insecure: boolean;
}

const loopback = /^(127\.\d+\.\d+\.\d+|localhost|::1|\[::1\])$/;

/** Whether gRPC speaks TLS. Throws when it would be open to a network by mistake, or when half of the pair is missing. */
export function usesTls(config: ListenerConfig): boolean {
  const { grpcHost, tlsCertFile, tlsKeyFile, insecure } = config;
  if (tlsCertFile !== undefined && tlsKeyFile === undefined) throw halfOfPair("tls-key-file", "tls-cert-file");
  if (tlsKeyFile !== undefined && tlsCertFile === undefined) throw halfOfPair("tls-cert-file", "tls-key-file");
  if (tlsCertFile !== undefined) return true;
  if (!loopback.test(grpcHost) && !insecure) throw openToNetwork(grpcHost);
  return false;
}

function halfOfPair(missing: string, given: string): Fault {
  return configFault([{ where: missing, rule: `must be set, because ${given} is` }]);
}

function openToNetwork(host: string): Fault {
  const choices = "set tls-cert-file and tls-key-file, keep 127.0.0.1, or accept the risk with insecure";
  return configFault([
    { where: "grpc-host", rule: `without TLS would be open to its network: ${choices}`, value: host },
  ]);
}
