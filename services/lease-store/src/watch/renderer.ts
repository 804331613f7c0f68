import { Candidate, candidateKeyToWire, candidateToWire, leaseToWire, transitionToWire } from "@tenure/contracts";
import type { Clock } from "@tenure/kernel";
import type { Renderer } from "./changes.ts";

/** Shows records to watchers as this replica sees them now. */
export function wireRenderer(clock: Clock): Renderer {
  return {
    lease: (record, { partition }) => leaseToWire(record, { partition, now: clock.now() }),
    candidate: (candidate, { key }) => candidateToWire(key, candidate, clock.now()),
    goneCandidate: (key, name) => Candidate.create({ key: candidateKeyToWire(key, name) }),
    transition: transitionToWire,
  };
}
