import type { Eligibility as CoreEligibility } from "@tenure/core";
import type { Eligibility } from "../../gen/tenure/v1/lease_record.ts";
import { bytesOfHex, hexOf } from "./text.ts";

/** Which components may hold a migration lock, on the wire. */
export function eligibilityToWire(eligibility: CoreEligibility | undefined): Eligibility | undefined {
  if (eligibility === undefined) return undefined;
  const { components, configuration, configurationDigest } = eligibility;
  return {
    configuration,
    configurationDigest: bytesOfHex(configurationDigest),
    components: components.map(({ name, versionRange }) => ({ name, versionRange })),
  };
}

/** Which components may hold a migration lock. */
export function eligibilityFromWire(eligibility: Eligibility | undefined): CoreEligibility | undefined {
  if (eligibility === undefined) return undefined;
  const { components, configuration, configurationDigest } = eligibility;
  return {
    configuration,
    configurationDigest: hexOf(configurationDigest),
    components: components.map(({ name, versionRange }) => ({ name, versionRange })),
  };
}
