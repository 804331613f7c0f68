import { type ConnectOptions, connect, type Tenure } from "@tenure/sdk";
import { Deployment, type DeploymentShape, startDeploymentOf } from "@tenure/testkit";

/** The two ways to the service that the suite runs over. */
export const ways = ["grpc", "nats"] as const;
export type Way = (typeof ways)[number];

/** A third of the defaults: fast enough for tests, slow enough for a busy machine. */
export const timing = { leaseDuration: "5s" } as const;

/** A deployment that clients connect to. */
export class SdkDeployment extends Deployment {
  connect(way: Way, options: Partial<ConnectOptions> = {}): Promise<Tenure> {
    const common = { namespace: "tests", timing, connectTimeout: "60s", callTimeout: "20s", ...options };
    if (way === "nats") return connect({ nats: { servers: [this.nats.url] }, ...common });
    return connect({ endpoint: this.grpc(), ...common });
  }
}

/** Starts a lease store, a gateway, and what else is asked for. */
export function startSdkDeployment(more: DeploymentShape["services"] = {}): Promise<SdkDeployment> {
  return startDeploymentOf(SdkDeployment, { services: { "lease-store": 1, gateway: 1, ...more } });
}
