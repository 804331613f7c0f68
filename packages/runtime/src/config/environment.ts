import { type Gathered, type Given, unknownName } from "./given.ts";
import { environmentPrefix, type Key } from "./key.ts";
import type { Problem } from "./problem.ts";

/** The variable that names the configuration file, as `--config` does. */
export const configVariable = "TENURE_CONFIG";

/**
 * Variables that parts of the product other than the program at hand read. They may be set for a whole shell,
 * container or test run, so no program refuses them.
 *
 * - `TENURE_CONFIG`: the configuration file of every program.
 * - `TENURE_CACHE_DIR`: where `npm start` and the tests keep the nats-server that they obtain.
 * - `TENURE_NATS_SERVER`: path of the nats-server that `npm start` and the tests run.
 * - `TENURE_LONG`: makes the tests repeat their scenarios.
 * - `TENURE_IMAGE`, `TENURE_NATS_IMAGE`, `TENURE_GRPC_PORT`: what the compose file runs, and where the gateway is found.
 *
 * The variables of the fields that every service shares (see `common-fields.ts`) are tolerated too.
 */
export const productVariables: readonly string[] = [
  configVariable,
  "TENURE_CACHE_DIR",
  "TENURE_NATS_SERVER",
  "TENURE_LONG",
  "TENURE_IMAGE",
  "TENURE_NATS_IMAGE",
  "TENURE_GRPC_PORT",
  "TENURE_BUILD_NETWORK",
];

/** A process's environment, passed in so that whoever reads it can be tested. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Takes what `keys` name. An empty variable counts as absent, because compose files cannot unset one. A variable with
 * the product's prefix that nobody knows is a mistake that would otherwise go unseen.
 */
export function readEnvironment(
  environment: Environment,
  keys: readonly Key[],
  tolerated: readonly string[],
): Gathered {
  const byName = new Map(keys.map((key) => [key.environment, key]));
  const known = new Set([...byName.keys(), ...productVariables, ...tolerated]);
  const given = new Map<string, Given>();
  const problems: Problem[] = [];
  for (const [name, raw] of Object.entries(environment)) {
    if (!name.startsWith(environmentPrefix) || raw === undefined) continue;
    const key = byName.get(name);
    if (key !== undefined) {
      if (raw !== "") given.set(key.key, { source: "environment", where: name, raw });
    } else if (!known.has(name) && !isServiceLink(name, raw)) {
      problems.push(unknownName(name, "environment variable", name, known));
    }
  }
  return { given, problems };
}

/**
 * Container platforms announce a service called `tenure` or `tenure-gateway` to their neighbours by variables such as
 * `TENURE_SERVICE_HOST`, `TENURE_GATEWAY_PORT_8368_TCP_ADDR` and `TENURE_PORT=tcp://…`. Nobody configured those.
 */
function isServiceLink(name: string, value: string): boolean {
  if (/_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(name)) return true;
  if (/_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) return true;
  return /_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value);
}
