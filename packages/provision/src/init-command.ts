import { type BusOptions, connectBus, inboxPrefixOf } from "@tenure/bus";
import { formatTimestamp, timestampFromMicros } from "@tenure/contracts";
import { type CreatedIncarnation, defaultPartitions, mostPartitions } from "@tenure/log";
import {
  type ConfigValues,
  commonFields,
  configure,
  defineConfig,
  type Host,
  productVersion,
  readCredentials,
} from "@tenure/runtime";
import { initialize } from "./initialize.ts";

const common = commonFields("provision");

const fields = defineConfig({
  mode: common.mode,
  natsUrl: common.natsUrl,
  natsNkeyFile: common.natsNkeyFile,
  natsSystemNkeyFile: common.natsSystemNkeyFile,
  natsSystemUrl: common.natsSystemUrl,
  natsCaFile: common.natsCaFile,
  natsCertFile: common.natsCertFile,
  natsKeyFile: common.natsKeyFile,
  natsConnectTimeoutMs: common.natsConnectTimeoutMs,
  replicas: { kind: "integer", min: 1, max: 5, doc: "Copies of every stream; 3 in production and 1 in development." },
  partitions: {
    kind: "integer",
    min: 1,
    max: mostPartitions,
    doc: `Partitions of the log, fixed for the deployment's life; ${defaultPartitions} for a new one.`,
  },
});

type Values = ConfigValues<typeof fields>;
type Credentials = ReturnType<typeof readCredentials>;

/** `tenure-provision init`. */
export const initCommand = {
  name: "tenure-provision init",
  summary:
    "Makes the streams and the incarnation record of a new deployment, once; changes nothing in an existing one.",
  async run(host: Host, argv: readonly string[]): Promise<void> {
    const { name, summary } = initCommand;
    const { environment, readFile } = host;
    const configured = configure({ name, summary, version: productVersion, fields, argv, environment, readFile });
    if (configured.kind === "print") return host.print(configured.text);
    const { values } = configured.config;
    const credentials = readCredentials(values, host);
    for (const warning of credentials.warnings) host.complain(warning);
    host.print(outcomeText(await connectAndInitialize(host, values, credentials)));
  },
} as const;

async function connectAndInitialize(host: Host, values: Values, credentials: Credentials): Promise<CreatedIncarnation> {
  const { mode, natsUrl, natsSystemUrl, replicas, partitions } = values;
  const { clock, random } = host;
  await using bus = await connectBus(busOptions(host, values, credentials, "provision"));
  const hasSystemUser = credentials.systemNkeySeed !== undefined || natsSystemUrl !== undefined;
  await using systemBus = hasSystemUser
    ? await connectBus({
        ...busOptions(host, values, credentials, "system"),
        servers: natsSystemUrl ?? natsUrl,
        nkeySeed: credentials.systemNkeySeed,
      })
    : undefined;
  const report = (line: string): void => host.complain(line);
  return await initialize({ bus, systemBus, mode, replicas, partitions, clock, random, report });
}

function busOptions(host: Host, values: Values, credentials: Credentials, user: string): BusOptions {
  return {
    servers: values.natsUrl,
    name: `tenure-provision init (${user})`,
    inboxPrefix: inboxPrefixOf(user),
    nkeySeed: credentials.nkeySeed,
    tls: credentials.tls,
    clock: host.clock,
    random: host.random,
    connectTimeoutMs: values.natsConnectTimeoutMs,
  };
}

function outcomeText({ created, id, partitions, firstSequence, createdAtMicros }: CreatedIncarnation): string {
  if (created) return `created incarnation ${id}: ${partitions} partitions, the log begins at ${firstSequence}\n`;
  const when = formatTimestamp(timestampFromMicros(createdAtMicros));
  return `already initialized: incarnation ${id} of ${when}, ${partitions} partitions; nothing was changed\n`;
}
