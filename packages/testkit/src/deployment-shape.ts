import type { ClientOptions } from "@tenure/bus";

/** The services that a deployment runs. */
export type ServiceName = "lease-store" | "gateway" | "identity" | "election" | "migration";

/** What a deployment consists of. */
export interface DeploymentShape {
  /** How many of each service: `store-1`, `gateway-1`, `identity-1`… A lease store and a gateway unless said. */
  readonly services?: Readonly<Partial<Record<ServiceName, number>>>;
  /** Arguments of each instance of a service, beside the common ones. */
  readonly args?: Readonly<Partial<Record<ServiceName, readonly string[]>>>;
  /** Partitions of the log; 8 unless said. */
  readonly partitions?: number;
  /** With the users and permissions of a real deployment: services sign in as themselves, the test as the gateway. */
  readonly isSecured?: boolean;
  /** What the deployment's clients apply to their calls: `{ principal: "test", deadlineMs: 20_000 }` unless said. */
  readonly calls?: ClientOptions;
}
