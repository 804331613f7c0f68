import { boot } from "./boot.ts";
import {
  type CommonFields,
  type Config,
  type ConfigValues,
  commonFields,
  configure,
  type Fields,
  instanceName,
} from "./config/index.ts";
import { growAtOnce } from "./grow-at-once.ts";
import { Health } from "./health.ts";
import { type Host, processHost } from "./host.ts";
import { exitCodeOf, lastLines } from "./last-line.ts";
import { Lifecycle } from "./lifecycle.ts";
import { createLogger } from "./logging/logger.ts";
import { urlPasswords } from "./logging/redaction.ts";
import type { ServiceContext, ServiceDefinition } from "./service.ts";
import { productVersion } from "./version.ts";

/**
 * What a service's `main.ts` calls: reads the configuration, boots, serves until a signal or a failure, stops in order
 * and exits. Never rejects: whatever goes wrong becomes an exit code and a line on standard error.
 */
export async function runService<const F extends Fields>(
  definition: ServiceDefinition<F>,
  host: Host = processHost(),
): Promise<void> {
  const config = readConfig(definition, host);
  if (config === undefined) return;
  growAtOnce();
  // The common fields are part of every load, so their values are there.
  const values = config.values as ServiceContext<F>["config"];
  const log = createLogger({
    service: definition.name,
    instance: values.instance,
    level: values.logLevel,
    format: formatOf(values.logFormat, host),
    colors: host.isTerminal,
    clock: host.clock,
    secrets: secretsOf(config, values),
    destination: host.logDestination(),
  });
  const health = new Health();
  const lifecycle = new Lifecycle({
    service: definition.name,
    host,
    log,
    health,
    stopTimeoutMs: values.stopTimeoutMs,
  });
  log.info({ version: productVersion, mode: values.mode, pid: host.pid }, "starting");
  await lifecycle.run(() => boot({ definition, config: values, host, log, health, lifecycle }));
}

function readConfig<F extends Fields>(
  definition: ServiceDefinition<F>,
  host: Host,
): Config<CommonFields & F> | undefined {
  const common = commonFields(instanceName(host));
  const shadowed = Object.keys(definition.fields).find((property) => property in common);
  if (shadowed !== undefined) throw new TypeError(`field ${shadowed} is one that every service has already`);
  try {
    const configured = configure({
      name: `tenure ${definition.name}`,
      summary: definition.summary,
      version: productVersion,
      fields: { ...common, ...definition.fields },
      argv: host.argv,
      environment: host.environment,
      readFile: (path) => host.readFile(path),
    });
    if (configured.kind === "run") {
      definition.check?.(configured.config.values as ServiceContext<F>["config"]);
      return configured.config;
    }
    host.print(configured.text);
    host.exit(0);
  } catch (thrown) {
    for (const line of lastLines(definition.name, thrown)) host.complain(line);
    host.exit(exitCodeOf(thrown));
  }
  return undefined;
}

function formatOf(format: "auto" | "json" | "pretty", host: Host): "json" | "pretty" {
  if (format !== "auto") return format;
  return host.isTerminal ? "pretty" : "json";
}

/** Everything that the log must never show: configured secrets, and passwords inside NATS URLs. */
function secretsOf(config: Config<Fields>, values: ConfigValues<CommonFields>): readonly string[] {
  const secrets = config.settings.flatMap(({ field, value }) =>
    field.kind === "secret" && typeof value === "string" ? [value] : [],
  );
  return [...secrets, ...urlPasswords([...values.natsUrl, ...(values.natsSystemUrl ?? [])])];
}
