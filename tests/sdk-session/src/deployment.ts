import { openSession, type Session, type SessionOptions } from "@tenure/sdk/session";
import { Deployment, startDeploymentOf } from "@tenure/testkit";

/** The two ways to the service that every test of the suite runs over. */
export const ways = ["nats", "grpc"] as const;
export type Way = (typeof ways)[number];

/** Beats fast, waits long: for a machine that may be busy. */
export const timing = { beatIntervalMs: 200, requestTimeoutMs: 1_000, connectTimeoutMs: 30_000, callTimeoutMs: 20_000 };

/** A deployment that sessions are opened to. */
export class SessionDeployment extends Deployment {
  /** Opens a session over one of the ways. */
  open(way: Way, options: Partial<SessionOptions> = {}): Promise<Session> {
    const common = { renewal: "inline", ...timing, ...options } as const;
    if (way === "nats") return openSession({ nats: { servers: [this.nats.url], principal: "tester" }, ...common });
    return openSession({ grpc: { endpoints: [this.grpc()] }, ...common });
  }
}

/** Starts lease stores and a gateway. */
export function startSessionDeployment(stores: number): Promise<SessionDeployment> {
  return startDeploymentOf(SessionDeployment, { services: { "lease-store": stores, gateway: 1 } });
}
