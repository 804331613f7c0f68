import { hostname } from "node:os";
import { type Dependent, durationFromMs, IdentityNaming, IdentityProfile } from "@tenure/contracts";
import type { LeaseInput, LeaseName } from "../term/lease-name.ts";
import { type DurationInput, toMs } from "../timing/duration-input.ts";
import type { IdentityNews } from "./own-identity.ts";

/** What goes when this process goes: a lease, or a candidate of one. */
export type DependentInput = LeaseInput | { readonly lease: LeaseInput; readonly candidate: string };

/** What a process says about itself when it registers. */
export interface IdentityOptions {
  /** What it is an instance of, such as `billing-worker`; a DNS-1123 subdomain. */
  readonly component: string;
  /** A semantic version. */
  readonly version?: string | undefined;
  /** The host's name; the machine's own unless given. */
  readonly host?: string | undefined;
  readonly zone?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** What it can do, for others to look for. */
  readonly capabilities?: readonly string[] | undefined;
  /** Where it can be reached. */
  readonly addresses?: readonly string[] | undefined;
  /** What is to go with it when it leaves or is collected. What it holds as itself need not be named. */
  readonly dependents?: readonly DependentInput[] | undefined;
  /**
   * `fresh` (default): a new id for every start, from host, process id and six digits. `stable`: one id for each host
   * and component, the same after a restart; two processes that claim one are told of each other.
   */
  readonly naming?: "fresh" | "stable" | undefined;
  /** Time between two beats; the server's default of 10 s unless given. */
  readonly beatInterval?: DurationInput | undefined;
  /** How long the record counts without a beat; the server's default of 1 h unless given. */
  readonly validity?: DurationInput | undefined;
  /** The namespace of identities, if the deployment has another than `tenure-identities`. */
  readonly namespace?: string | undefined;
  /** Told of what becomes of the registration. */
  readonly onChange?: ((news: IdentityNews) => void) | undefined;
}

/** The profile that the options say. Throws INVALID_ARGUMENT for a duration or lease that cannot be read. */
export function profileOf(options: IdentityOptions, leaseName: (input: LeaseInput) => LeaseName): IdentityProfile {
  const { beatInterval, validity } = options;
  return IdentityProfile.fromPartial({
    component: options.component,
    version: options.version ?? "",
    host: options.host ?? hostname(),
    processId: process.pid,
    zone: options.zone ?? "",
    labels: { ...options.labels },
    capabilities: [...(options.capabilities ?? [])],
    addresses: [...(options.addresses ?? [])],
    dependents: (options.dependents ?? []).map((dependent) => dependentOf(dependent, leaseName)),
    naming: options.naming === "stable" ? IdentityNaming.STABLE : IdentityNaming.FRESH,
    ...(beatInterval === undefined ? {} : { beatInterval: durationFromMs(toMs(beatInterval, "beatInterval")) }),
    ...(validity === undefined ? {} : { validity: durationFromMs(toMs(validity, "validity")) }),
  });
}

function dependentOf(input: DependentInput, leaseName: (input: LeaseInput) => LeaseName): Dependent {
  if (typeof input === "string" || !("candidate" in input)) {
    return { subject: { $case: "lease", value: leaseName(input) } };
  }
  return { subject: { $case: "candidate", value: { lease: leaseName(input.lease), name: input.candidate } } };
}
