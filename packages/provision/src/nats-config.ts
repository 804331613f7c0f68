/** How one nats-server of a deployment is configured. */
export interface NatsConfigInput {
  /** Unique in the cluster. */
  readonly serverName: string;
  /** The address that clients connect to; 127.0.0.1 keeps the server to this machine. */
  readonly host: string;
  readonly port: number;
  /** Where JetStream keeps its files. */
  readonly storeDirectory: string;
  /** The most that JetStream may keep on disk; well below the volume's size. Default 8 GiB. */
  readonly maxFileBytes?: number;
  /** Health and statistics over HTTP; not for clients. Off when absent. */
  readonly monitor?: { readonly host: string; readonly port: number };
  /** The other servers. Absent for a single one. */
  readonly cluster?: NatsClusterInput;
  /** Accounts as `renderAccounts` gives them, or the file that holds them, relative to the configuration. */
  readonly accounts: string | { readonly include: string };
}

/** The routes between the servers of a cluster; clients must not reach them. */
export interface NatsClusterInput {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** `nats://host:port` of every member, this one included. */
  readonly routes: readonly string[];
}

const defaultMaxFileBytes = 8 * 1024 ** 3;

/**
 * A complete nats-server configuration. Every acknowledged message is on disk (`sync_interval: always`), dead clients
 * are noticed within 15 seconds, and nobody gets in without a key.
 */
export function renderNatsConfig(input: NatsConfigInput): string {
  return [...serverLines(input), ...jetStreamLines(input), ...clusterLines(input.cluster), accountsText(input)].join(
    "\n",
  );
}

function serverLines({ serverName, host, port, monitor }: NatsConfigInput): readonly string[] {
  return [
    `server_name: ${quoted(serverName)}`,
    `listen: ${address(host, port)}`,
    ...(monitor === undefined ? [] : [`http: ${address(monitor.host, monitor.port)}`]),
    // A batch of the log stays below this.
    "max_payload: 1MB",
    "max_control_line: 4KB",
    "max_connections: 4096",
    // A client that does not answer two of these is cut off, and so is one that does not read.
    'ping_interval: "5s"',
    "ping_max: 2",
    'write_deadline: "5s"',
    'lame_duck_duration: "60s"',
  ];
}

function jetStreamLines({ storeDirectory, maxFileBytes = defaultMaxFileBytes }: NatsConfigInput): readonly string[] {
  return [
    "jetstream {",
    `  store_dir: ${quoted(storeDirectory)}`,
    "  sync_interval: always",
    "  max_memory_store: 256MB",
    `  max_file_store: ${maxFileBytes}`,
    "}",
  ];
}

function clusterLines(cluster: NatsClusterInput | undefined): readonly string[] {
  if (cluster === undefined) return [];
  return [
    "cluster {",
    `  name: ${quoted(cluster.name)}`,
    `  listen: ${address(cluster.host, cluster.port)}`,
    "  routes: [",
    ...cluster.routes.map((route) => `    ${quoted(route)}`),
    "  ]",
    "}",
  ];
}

function accountsText({ accounts }: NatsConfigInput): string {
  return typeof accounts === "string" ? accounts : `include ${quoted(accounts.include)}\n`;
}

function address(host: string, port: number): string {
  return quoted(`${host.includes(":") ? `[${host}]` : host}:${port}`);
}

/** JSON's escapes are those of the configuration's quoted strings, which also take no variables. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
