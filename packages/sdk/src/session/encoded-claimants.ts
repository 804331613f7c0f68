import { type Claimant, encodeMessage, LeaseServiceAcquireRequest } from "@tenure/contracts";

/** Claimants as they stand in an acquire, with the hash of the session's key. Most claims of a client have the same. */
export class EncodedClaimants {
  readonly renewKeyHash: Uint8Array;
  #last: { readonly claimant: Claimant; readonly bytes: Uint8Array } | undefined;

  constructor(renewKeyHash: Uint8Array) {
    this.renewKeyHash = renewKeyHash;
  }

  encoded(claimant: Claimant): Uint8Array {
    if (this.#last?.claimant !== claimant) {
      const request = LeaseServiceAcquireRequest.create({ claimant: { ...claimant, renewKeyHash: this.renewKeyHash } });
      this.#last = { claimant, bytes: encodeMessage(LeaseServiceAcquireRequest, request) };
    }
    return this.#last.bytes;
  }
}
