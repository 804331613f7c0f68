import { encodeRenewals } from "@tenure/contracts";
import type { Fault } from "@tenure/kernel";
import type { RenewalClient, RenewalPort } from "./renewal-coalescer.ts";
import { type PackedGroup, packedGroups } from "./renewal-groups.ts";
import { refusalsOf } from "./renewal-refusals.ts";

/** Says which calls may be made. It is asked before anything of a call is sent. */
export interface Admission {
  /** Lets a call pass, or throws PERMISSION_DENIED. */
  admit(principal: string, method: string, request: Uint8Array): void;
  /**
   * Why a principal may not renew the term of a hold. `undefined`: nothing speaks against it; `unknown`: it is not known
   * yet what the hold belongs to, and its owner, who lets nobody renew another's term, is to decide.
   */
  refuseRenewal(principal: string, partition: number, holdId: number): Fault | "unknown" | undefined;
}

/** Holds of one client that are remembered as admitted; beyond it they are judged anew. */
const mostRemembered = 200_000;

/**
 * Renewals of holds that their client may renew. A hold belongs to one lease and one principal for ever, so it is judged
 * once for a client, however often it is renewed.
 */
export class AdmittedRenewals implements RenewalPort {
  readonly #renewals: RenewalPort;
  readonly #admission: Pick<Admission, "refuseRenewal">;
  readonly #admitted = new WeakMap<RenewalClient, AdmittedHolds>();

  constructor(renewals: RenewalPort, admission: Pick<Admission, "refuseRenewal">) {
    this.#renewals = renewals;
    this.#admission = admission;
  }

  get queuedHolds(): number {
    return this.#renewals.queuedHolds;
  }

  renew(client: RenewalClient, groups: readonly PackedGroup[]): void {
    let known = this.#admitted.get(client);
    if (known === undefined) {
      known = new AdmittedHolds();
      this.#admitted.set(client, known);
    }
    const admitted: PackedGroup[] = [];
    for (const group of groups) admitted.push(...this.#admittedOf(client, group, known));
    if (admitted.length > 0) this.#renewals.renew(client, admitted);
  }

  /** The group itself if nothing of it is refused, which is nearly always so. */
  #admittedOf(client: RenewalClient, group: PackedGroup, known: AdmittedHolds): readonly PackedGroup[] {
    const { holdIds, partition, sendNumber } = group;
    const refused = new Map<number, Fault>();
    for (const holdId of holdIds) {
      if (known.has(partition, holdId)) continue;
      const verdict = this.#admission.refuseRenewal(client.principal, partition, holdId);
      if (verdict === undefined) known.add(partition, holdId);
      else if (verdict !== "unknown") refused.set(holdId, verdict);
    }
    if (refused.size === 0) return [group];
    client.onRefused([...refused].flatMap(([holdId, fault]) => refusalsOf([{ ...group, holdIds: [holdId] }], fault)));
    const rest = holdIds.filter((holdId) => !refused.has(holdId));
    return rest.length === 0 ? [] : packedGroups(encodeRenewals([{ partition, sendNumber, holdIds: rest }]));
  }
}

class AdmittedHolds {
  #byPartition = new Map<number, Set<number>>();
  #size = 0;

  has(partition: number, holdId: number): boolean {
    return this.#byPartition.get(partition)?.has(holdId) === true;
  }

  add(partition: number, holdId: number): void {
    if (this.#size >= mostRemembered) {
      this.#byPartition = new Map();
      this.#size = 0;
    }
    const holds = this.#byPartition.get(partition);
    if (holds === undefined) this.#byPartition.set(partition, new Set([holdId]));
    else holds.add(holdId);
    this.#size += 1;
  }
}
