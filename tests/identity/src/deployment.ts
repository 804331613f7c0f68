import { type Deployment, type DeploymentShape, startDeployment } from "@tenure/testkit";

/** Short enough for tests, long enough for a busy machine: silent after 3 s, expired after 6 s, collected a second later. */
export const short = { beatMs: 1_000, validityMs: 6_000, graceMs: 1_000, settleMs: 2_000, collectorLeaseMs: 4_000 };

/** Arguments of the identity service with the short settings, but for those that are given. */
export function argsWith(settings: Partial<typeof short> = {}): readonly string[] {
  const { beatMs, collectorLeaseMs, graceMs, settleMs, validityMs } = { ...short, ...settings };
  return [
    `--beat-interval=${beatMs}ms`,
    "--minimum-beat-interval=100ms",
    `--validity=${validityMs}ms`,
    `--collection-grace=${graceMs}ms`,
    "--collection-resync=500ms",
    `--collection-settle=${settleMs}ms`,
    `--collector-lease-duration=${collectorLeaseMs}ms`,
  ];
}

export const shortArgs = argsWith();

/** Starts a lease store and what is asked for; identity services have the short settings unless others are given. */
export function startIdentityDeployment(
  services: DeploymentShape["services"] = { identity: 1 },
  identityArgs = shortArgs,
): Promise<Deployment> {
  return startDeployment({ services: { "lease-store": 1, ...services }, args: { identity: identityArgs } });
}
