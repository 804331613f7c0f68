import { type Deployment, startDeployment } from "@tenure/testkit";

/** Starts lease stores `store-1` and so on. */
export function startStores(count: number, args: readonly string[] = [], isSecured = false): Promise<Deployment> {
  const services = { "lease-store": count };
  return startDeployment({ services, args: { "lease-store": args }, isSecured, calls: { deadlineMs: 10_000 } });
}
