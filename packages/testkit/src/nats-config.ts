import { compareServerVersions } from "@tenure/launcher";

/** What a test server is told. */
export interface NatsConfigInput {
  readonly name: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly version: string;
  /** Where JetStream keeps its files; `undefined` leaves JetStream off. */
  readonly storeDirectory: string | undefined;
  readonly cluster?: { readonly port: number; readonly routes: readonly number[] };
  /** Accounts and users in NATS syntax; open to all, with a system account, when absent. */
  readonly accounts?: string;
  /** More lines at the top level. */
  readonly extra?: string;
}

/** User and password of the system account in a plain test server. */
export const systemUser = { user: "system", password: "system" } as const;

/** The first version that knows `sync_interval`. */
const firstWithSyncInterval = "2.10.0";

/** The configuration file of a test server: on the loopback only, every write synced before it is acknowledged. */
export function renderTestConfig(input: NatsConfigInput): string {
  return `${[
    `server_name: ${quoted(input.name)}`,
    `listen: "127.0.0.1:${input.port}"`,
    `http: "127.0.0.1:${input.monitorPort}"`,
    ...jetStreamLines(input),
    ...clusterLines(input),
    input.accounts ?? plainAccounts(input.storeDirectory !== undefined),
    ...(input.extra === undefined ? [] : [input.extra]),
  ].join("\n")}\n`;
}

function jetStreamLines(input: NatsConfigInput): string[] {
  if (input.storeDirectory === undefined) return [];
  const sync = compareServerVersions(input.version, firstWithSyncInterval) >= 0 ? ["  sync_interval: always"] : [];
  return ["jetstream {", `  store_dir: ${quoted(input.storeDirectory)}`, ...sync, "}"];
}

function clusterLines(input: NatsConfigInput): string[] {
  if (input.cluster === undefined) return [];
  const routes = input.cluster.routes.map((port) => quoted(`nats://127.0.0.1:${port}`));
  return [
    "cluster {",
    "  name: tenure-test",
    `  listen: "127.0.0.1:${input.cluster.port}"`,
    `  routes: [${routes.join(", ")}]`,
    "}",
  ];
}

/** Whoever connects without a name is the user `test`, who may do everything; `system` sees the system account. */
function plainAccounts(jetStream: boolean): string {
  return [
    "accounts {",
    "  SYS {",
    `    users: [ { user: ${systemUser.user}, password: ${systemUser.password} } ]`,
    "  }",
    "  TEST {",
    ...(jetStream ? ["    jetstream: enabled"] : []),
    "    users: [ { user: test, password: test } ]",
    "  }",
    "}",
    "system_account: SYS",
    "no_auth_user: test",
  ].join("\n");
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
