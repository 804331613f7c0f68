import { systemClock } from "@tenure/kernel";
import { createStreams, type Incarnation } from "@tenure/log";
import { connectTest } from "./connect-test.ts";
import { Deployment, type DeploymentParts } from "./deployment.ts";
import type { DeploymentShape, ServiceName } from "./deployment-shape.ts";
import { type NatsServer, startNats } from "./nats-server.ts";

/** Starts NATS, makes the streams, starts the services and waits until all are ready. */
export function startDeployment(shape: DeploymentShape = {}): Promise<Deployment> {
  return startDeploymentOf(Deployment, shape);
}

/** The same for a suite whose deployment can more. */
export async function startDeploymentOf<Kind extends Deployment>(
  kind: new (parts: DeploymentParts) => Kind,
  shape: DeploymentShape = {},
): Promise<Kind> {
  const { isSecured = false, services = { "lease-store": 1, gateway: 1 } } = shape;
  const nats = await startNats({ config: isSecured ? "provisioned" : "plain" });
  const incarnation = await initialize(nats, shape);
  const bus = await connectTest(nats, isSecured ? "gateway" : undefined);
  const deployment = new kind({ nats, bus, incarnation, shape });
  try {
    for (const [service, count] of Object.entries(services) as [ServiceName, number][]) {
      const name = service === "lease-store" ? "store" : service;
      for (let number = 1; number <= count; number += 1) await deployment.start(service, `${name}-${number}`);
    }
    await deployment.ready();
    return deployment;
  } catch (error) {
    await deployment[Symbol.asyncDispose]();
    throw error;
  }
}

async function initialize(nats: NatsServer, { isSecured, partitions = 8 }: DeploymentShape): Promise<Incarnation> {
  await using bus = await connectTest(nats, isSecured ? "provision" : undefined);
  return await createStreams(bus, { replicas: 1, partitions, clock: systemClock });
}
