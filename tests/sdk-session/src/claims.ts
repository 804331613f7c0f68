import { Claimant, durationFromMs, type LeaseClaim, LeaseClaim as LeaseClaimCodec } from "@tenure/contracts";
import type { ClaimRequest, Granted, KeepListener, KeptHold, TenureError } from "@tenure/sdk/session";

/** L 1.5 s, H 0.3 s, R 100 ms, T 50 ms: fast, and sound for the deployment's σ of 1 s. */
export const timing = { leaseDurationMs: 1_500, usableTermMs: 300, renewIntervalMs: 100, requestTimeoutMs: 50 };

/** A claim on leases of namespace `tests`. */
export function claimOf(
  holder: string,
  names: readonly string[],
  leaseDurationMs = timing.leaseDurationMs,
): ClaimRequest {
  const claims: LeaseClaim[] = names.map((name) => LeaseClaimCodec.create({ lease: { namespace: "tests", name } }));
  const { renewIntervalMs, requestTimeoutMs, usableTermMs } = timing;
  const claimant = Claimant.create({
    holder,
    timing: {
      leaseDuration: durationFromMs(leaseDurationMs),
      usableTerm: durationFromMs(usableTermMs),
      renewInterval: durationFromMs(renewIntervalMs),
      requestTimeout: durationFromMs(requestTimeoutMs),
    },
  });
  return { claims, claimant };
}

/** How a granted term is kept. */
export function keptOf({ grant, sentAtMs }: Granted): KeptHold {
  const { hold, lease } = grant;
  if (hold === undefined || lease === undefined) throw new Error("a grant names its hold and lease");
  const { renewIntervalMs, usableTermMs } = timing;
  const { holdId, partition, token } = hold;
  return {
    lease,
    holdId,
    partition,
    token,
    renewIntervalMs,
    usableTermMs,
    requestTimeoutMs: 1_000,
    provenAtMs: sentAtMs,
  };
}

/** Notes what it is told. */
export class Notes implements KeepListener {
  readonly renewed: number[] = [];
  readonly missed: TenureError[] = [];
  readonly refused: TenureError[] = [];
  readonly marks: Parameters<KeepListener["onEndOfTerm"]>[0][] = [];
  readonly ended: { readonly reason: number; readonly note: string }[] = [];

  onRenewed(sentAtMs: number): void {
    this.renewed.push(sentAtMs);
  }
  onMissed(error: TenureError): void {
    this.missed.push(error);
  }
  onRefused(error: TenureError): void {
    this.refused.push(error);
  }
  onEndOfTerm(mark: Parameters<KeepListener["onEndOfTerm"]>[0]): void {
    this.marks.push(mark);
  }
  onEnded(reason: number, note: string): void {
    this.ended.push({ reason, note });
  }
}

/** The one grant of a claim for one lease. */
export function only(granted: readonly Granted[]): Granted {
  const [first] = granted;
  if (first === undefined || granted.length !== 1) throw new Error(`expected one grant, got ${granted.length}`);
  return first;
}
