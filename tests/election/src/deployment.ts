import { connect, type Tenure } from "@tenure/sdk";
import { startDeploymentOf, Deployment as TestDeployment } from "@tenure/testkit";

/** A third of the defaults: fast enough for tests, slow enough for a busy machine. */
export const timing = { leaseDuration: "5s" } as const;

/** A deployment that candidates connect to. */
export class Deployment extends TestDeployment {
  /** Connects a client through a gateway, as a process of its own would. */
  connect(identity: string, gateway = "gateway-1"): Promise<Tenure> {
    const options = { namespace: "tests", timing, connectTimeout: "60s", callTimeout: "20s" } as const;
    return connect({ endpoint: this.grpc(gateway), identity, renewal: "inline", ...options });
  }
}

/** What is started. */
export interface DeploymentShape {
  readonly elections?: number;
  readonly electionArgs?: readonly string[];
  /** With the users and permissions of a real deployment. */
  readonly isSecured?: boolean;
}

/** Starts a lease store, a gateway and election services `election-1`…. */
export function startDeployment(shape: DeploymentShape = {}): Promise<Deployment> {
  const { electionArgs = [], elections = 1, isSecured = false } = shape;
  return startDeploymentOf(Deployment, {
    isSecured,
    services: { "lease-store": 1, gateway: 1, election: elections },
    args: { election: electionArgs },
    calls: { principal: "operator" },
  });
}
