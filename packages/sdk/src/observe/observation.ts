import { type Lease, TermEndReason } from "@tenure/contracts";
import type { LeaseName } from "../term/lease-name.ts";

/** Who leads, or that nobody does. */
export type Observation =
  | {
      readonly kind: "leader";
      readonly lease: LeaseName;
      readonly holder: string;
      readonly token: bigint;
      /** What the leader says of itself, such as an address. */
      readonly value: Uint8Array;
      /** Who is to follow, if the leader is asked to finish; empty when anyone may. Undefined otherwise. */
      readonly successor: string | undefined;
      /** Whether it is this client. */
      readonly isSelf: boolean;
    }
  | {
      readonly kind: "vacant";
      readonly lease: LeaseName;
      /** The last term's token; 0n if there never was one. */
      readonly lastToken: bigint;
      /** Why the last term ended, as the API spells it; undefined before the first. */
      readonly why: keyof typeof TermEndReason | undefined;
    };

/** What a record says about its leader. A choice that was not accepted yet leads nobody. */
export function observationOf(lease: LeaseName, record: Lease | undefined, self: string): Observation {
  const hold = record?.holds[0];
  if (hold === undefined) {
    return {
      kind: "vacant",
      lease,
      lastToken: record?.lastToken ?? 0n,
      why: reasonNames.get(record?.lastEndReason ?? 0),
    };
  }
  const { holder, token } = hold;
  const successor = record?.endOfTerm?.preferredHolder;
  return { kind: "leader", lease, holder, token, value: hold.value.slice(), successor, isSelf: holder === self };
}

/** Whether two observations say the same, so that the second need not be told. */
export function isSameObservation(left: Observation | undefined, right: Observation): boolean {
  if (left?.kind === "leader" && right.kind === "leader") {
    return left.token === right.token && left.holder === right.holder && left.successor === right.successor;
  }
  return left?.kind === "vacant" && right.kind === "vacant" && left.lastToken === right.lastToken;
}

const reasonNames: ReadonlyMap<number, keyof typeof TermEndReason> = new Map(
  Object.entries(TermEndReason)
    .filter(([name]) => name !== "UNSPECIFIED")
    .map(([name, number]) => [number, name as keyof typeof TermEndReason]),
);
