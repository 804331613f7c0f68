import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DataFolder } from "./data-folder.ts";
import { type Environment, inheritedEnvironment } from "./environment.ts";
import { type LaunchOptions, type ServiceName, serviceNames } from "./options.ts";
import type { Program } from "./supervised.ts";

/** The repository's root, from `packages/launcher/src` and from `packages/launcher/dist` alike. */
const repositoryRoot = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * What Node.js is told for every service. A young generation of at most 2 x 32 MiB, twice the usual: collections of it stall
 * everybody who waits, and are half as many.
 */
export const nodeOptions: readonly string[] = ["--max-semi-space-size=32", "--enable-source-maps"];

/** How the services reach NATS. */
export interface NatsAccess {
  readonly url: string;
  /** Where the users' seeds are; absent for a foreign server, whose URL says who we are. */
  readonly credentials: string | undefined;
}

/** What the services' command lines are made of. */
export interface ProgramInput {
  readonly options: LaunchOptions;
  readonly nats: NatsAccess;
  readonly grpcPort: number;
  readonly httpPort: number;
  readonly environment: Environment;
}

/** Every replica of every service, in the order in which they start. The first gateway has the announced ports. */
export function servicePrograms(input: ProgramInput): readonly Program[] {
  return serviceNames.flatMap((service) =>
    Array.from({ length: input.options.scale[service] }, (_, index) => serviceProgram(service, index, input)),
  );
}

function serviceProgram(service: ServiceName, index: number, input: ProgramInput): Program {
  const isFront = service === "gateway" && index === 0;
  const ports = [
    ...flag("http-port", isFront ? input.httpPort : 0),
    ...(service === "gateway" ? flag("grpc-port", isFront ? input.grpcPort : 0) : []),
  ];
  return {
    name: input.options.scale[service] === 1 ? service : `${service} ${index + 1}`,
    command: process.execPath,
    args: [
      ...nodeOptions,
      join(repositoryRoot, "services", service, "dist/main.js"),
      ...flag("mode", "development"),
      ...flag("log-level", input.options.logLevel),
      ...natsFlags(service, input.nats),
      ...(service === "lease-store" ? compactorFlags(input.nats) : []),
      ...ports,
    ],
    environment: environmentOf(input.nats, input.environment),
  };
}

/** Every partition is appended to on its own, so that more of them on one machine mean smaller batches (decision 27). */
const localPartitions = 1;

/** The one-shot program that makes streams and record in a new data folder. */
export function initProgram(nats: NatsAccess, environment: Environment): Program {
  const script = join(repositoryRoot, "packages/provision/dist/main.js");
  const args = [
    script,
    "init",
    ...flag("mode", "development"),
    ...flag("replicas", 1),
    ...flag("partitions", localPartitions),
    ...natsFlags("provision", nats),
  ];
  return { name: "init", command: process.execPath, args, environment: environmentOf(nats, environment) };
}

/** Our own nats-server, which logs to a file, so that the terminal belongs to the services. */
export function natsProgram(path: string, folder: DataFolder, environment: Environment): Program {
  const args = ["--config", folder.natsConfig, "--log", folder.natsLog];
  return { name: "nats-server", command: path, args, environment: inheritedEnvironment(environment) };
}

/** A foreign server's URL may hold a password, so it travels where other users cannot read it. */
function environmentOf({ url, credentials }: NatsAccess, environment: Environment): Environment {
  const inherited = inheritedEnvironment(environment);
  return credentials === undefined ? { ...inherited, TENURE_NATS_URL: url } : inherited;
}

function natsFlags(user: string, { url, credentials }: NatsAccess): readonly string[] {
  if (credentials === undefined) return [];
  return [
    ...flag("nats-url", url),
    ...flag("nats-nkey-file", join(credentials, `${user}.nk`)),
    ...flag("nats-system-nkey-file", join(credentials, "system.nk")),
  ];
}

/** The lease store has the log purged by a user that may do nothing else. */
function compactorFlags({ credentials }: NatsAccess): readonly string[] {
  return credentials === undefined ? [] : flag("compactor-nkey-file", join(credentials, "compactor.nk"));
}

function flag(name: string, value: string | number): readonly string[] {
  return [`--${name}`, String(value)];
}
