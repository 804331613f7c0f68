import { IdentityLiveness, type IdentitySelector, LeaseSelector, leaseSelection } from "@tenure/contracts";
import { defaultLeaseSpec, type LeaseRecord, type Liveness } from "@tenure/core";
import { Fault, invalid } from "@tenure/kernel";
import { profileOf } from "../record/identity-to-wire.ts";

/** Which identities a caller asks for. */
export interface IdentitySelection {
  /** By what the instance says of itself, which only its own registration changes. */
  matchesProfile(record: LeaseRecord): boolean;
  matchesLiveness(liveness: Liveness): boolean;
}

const livenesses: ReadonlyMap<IdentityLiveness, Liveness> = new Map([
  [IdentityLiveness.LIVE, "live"],
  [IdentityLiveness.SILENT, "silent"],
  [IdentityLiveness.EXPIRED, "expired"],
  [IdentityLiveness.GONE, "gone"],
]);

/** Reads a selector; INVALID_ARGUMENT when it makes no sense. Absent or empty selects all but those that have gone. */
export function identitySelection(selector: IdentitySelector | undefined): IdentitySelection {
  const { capabilities = [], component = "", labels, liveness = [], zone = "" } = selector ?? {};
  const selection = leaseSelection(
    LeaseSelector.fromPartial({ namespace: "x", ...(labels === undefined ? {} : { labels }) }),
  );
  if (selection instanceof Fault) throw selection;
  const wanted = new Set(liveness.map(readLiveness));
  return {
    matchesProfile(record) {
      const { profile } = profileOf(record);
      if (component !== "" && profile.component !== component) return false;
      if (zone !== "" && profile.zone !== zone) return false;
      if (!capabilities.every((capability) => profile.capabilities.includes(capability))) return false;
      if ((labels?.requirements.length ?? 0) === 0) return true;
      return selection.matches({ key: "x/x", spec: { ...defaultLeaseSpec, labels: profile.labels } });
    },
    matchesLiveness: (seen) => (wanted.size === 0 ? seen !== "gone" : wanted.has(seen)),
  };
}

function readLiveness(wire: IdentityLiveness): Liveness {
  const known = livenesses.get(wire);
  if (known !== undefined) return known;
  const rule = "must be LIVE, SILENT, EXPIRED or GONE";
  throw invalid([{ field: "selector.liveness", rule, value: String(wire) }]);
}
