import { Severity as ProtoSeverity, type SystemServiceDoctorResponse } from "@tenure/contracts";
import { type Finding, findingWord, type Severity } from "./finding.ts";

const severities: Readonly<Record<Severity, ProtoSeverity>> = {
  fatal: ProtoSeverity.FATAL,
  unsafe: ProtoSeverity.UNSAFE,
  advice: ProtoSeverity.ADVICE,
};

/** One check of the deployment, and who made it. */
export interface DoctorReport {
  /** The worst first, as `examine` gives them. */
  readonly findings: readonly Finding[];
  /** The instance that checked. */
  readonly instance: string;
  /** How long the check took, in milliseconds. */
  readonly tookMs: number;
}

/** The answer of `SystemService.Doctor`. Without findings the worst is OK. */
export function toDoctorResponse({ findings, instance, tookMs }: DoctorReport): SystemServiceDoctorResponse {
  const [worst] = findings;
  const seconds = Math.floor(tookMs / 1000);
  return {
    findings: findings.map((finding) => ({
      check: findingWord(finding),
      severity: severities[finding.severity],
      subject: finding.subject,
      what: finding.what,
      why: finding.why,
      fix: finding.fix,
      instance,
    })),
    worst: worst === undefined ? ProtoSeverity.OK : severities[worst.severity],
    silentInstances: [],
    took: { seconds: BigInt(seconds), nanos: Math.floor((tookMs - seconds * 1000) * 1_000_000) },
  };
}
