import { Duration, durationFromMs, durationToMs, IdentityNaming, IdentityProfile, LeaseSpec } from "@tenure/contracts";
import {
  type IdentityProfile as CoreProfile,
  type Dependent,
  identityAnnotations,
  labelsOf,
  leaseKey,
} from "@tenure/core";

/** What a registration gets that does not say otherwise. */
export interface ProfileDefaults {
  readonly beatIntervalMs: number;
  readonly validityMs: number;
}

/** The profile as it is stored: with every default written out. */
export function completeProfile(profile: IdentityProfile, defaults: ProfileDefaults): IdentityProfile {
  const beatInterval = profile.beatInterval ?? durationFromMs(defaults.beatIntervalMs);
  // An instance that beats more slowly than the default validity allows is valid for longer.
  const leastMs = 6 * durationToMs(beatInterval);
  const validity = profile.validity ?? durationFromMs(Math.max(defaults.validityMs, leastMs));
  const naming = profile.naming === IdentityNaming.STABLE ? IdentityNaming.STABLE : IdentityNaming.FRESH;
  return { ...profile, beatInterval, validity, naming };
}

/** The profile as the rules see it. A dependent that names nothing becomes a lease without a name, which is refused. */
export function profileFromWire(profile: IdentityProfile): CoreProfile {
  const { component, version, host, zone, labels, capabilities, addresses, processId } = profile;
  return {
    component,
    version,
    host,
    processId,
    zone,
    labels,
    capabilities,
    addresses,
    dependents: dependentsOf(profile),
    naming: profile.naming === IdentityNaming.STABLE ? "stable" : "fresh",
    beatIntervalMs: durationToMs(profile.beatInterval ?? Duration.create()),
    validityMs: durationToMs(profile.validity ?? Duration.create()),
  };
}

function dependentsOf({ dependents }: IdentityProfile): readonly Dependent[] {
  return dependents.map(({ subject }): Dependent => {
    if (subject?.$case === "candidate") {
      const { lease, name } = subject.value;
      return { kind: "candidate", lease: leaseKey(lease?.namespace ?? "", lease?.name ?? ""), candidate: name };
    }
    return { kind: "lease", lease: leaseKey(subject?.value.namespace ?? "", subject?.value.name ?? "") };
  });
}

/** What the lease of an identity is created with, and what tells whether its profile changed. */
export interface ProfileRecord {
  readonly spec: LeaseSpec;
  readonly text: string;
}

/** The lease of an identity: valid for its validity, labelled, and with the profile where it outlives the term. */
export function profileRecord(profile: IdentityProfile): ProfileRecord {
  const text = Buffer.from(IdentityProfile.encode(profile).finish()).toString("base64");
  const spec = LeaseSpec.fromPartial({
    leaseDuration: profile.validity ?? Duration.create(),
    labels: labelsOf(profile),
    annotations: { [identityAnnotations.profile]: text },
  });
  return { spec, text };
}
