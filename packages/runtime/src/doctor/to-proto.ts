import { Severity as ProtoSeverity, type SystemServiceDoctorResponse } from "@tenure/contracts";
import { type Finding, findingWord, type Severity } from "./finding.ts";
import type { Passed } from "./passed.ts";

const severities: Readonly<Record<Severity, ProtoSeverity>> = {
  fatal: ProtoSeverity.FATAL,
  unsafe: ProtoSeverity.UNSAFE,
  advice: ProtoSeverity.ADVICE,
};

/** One check of the deployment, and who made it. */
export interface DoctorReport {
  /** The worst first, as `examine` gives them. */
  readonly findings: readonly Finding[];
  /** What was checked and is as it should be. */
  readonly passed: readonly Passed[];
  /** The instance that checked. */
  readonly instance: string;
  /** How long the check took, in milliseconds. */
  readonly tookMs: number;
}

/** The answer of `SystemService.Doctor`. Without findings the worst is OK. */
export function toDoctorResponse({ findings, instance, passed, tookMs }: DoctorReport): SystemServiceDoctorResponse {
  const [worst] = findings;
  const seconds = Math.floor(tookMs / 1000);
  return {
    findings: [
      ...findings.map(({ id, severity, ...finding }) => ({
        ...finding,
        check: findingWord({ id }),
        severity: severities[severity],
        instance,
      })),
      ...passed.map(({ id, subject, what }) => ({
        check: findingWord({ id }),
        severity: ProtoSeverity.OK,
        subject,
        what,
        why: "",
        fix: "",
        instance,
      })),
    ],
    worst: worst === undefined ? ProtoSeverity.OK : severities[worst.severity],
    silentInstances: [],
    took: { seconds: BigInt(seconds), nanos: Math.floor((tookMs - seconds * 1000) * 1_000_000) },
  };
}
