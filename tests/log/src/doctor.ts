import { bootCheck, collectFacts, examine, type Finding, type Mode } from "@tenure/runtime";
import { connect } from "./connect.ts";

/** Where a test's deployment is reached. */
export interface Deployment {
  readonly url: string;
  readonly systemUrl: string;
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The boot check of a service, with the probe. */
export async function checkDeployment({ url, systemUrl }: Deployment, mode: Mode): Promise<void> {
  await using bus = await connect(url);
  await using systemBus = await connect(systemUrl, "system");
  await bootCheck({ bus, systemBus, mode, log: silent, probe: true });
}

/** What the doctor finds, without the probe. */
export async function findingsOf({ url, systemUrl }: Deployment, mode: Mode): Promise<readonly Finding[]> {
  await using bus = await connect(url);
  await using systemBus = await connect(systemUrl, "system");
  return examine(await collectFacts(bus, systemBus, { probe: false }), mode);
}
