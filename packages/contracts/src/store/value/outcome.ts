import type { OutcomeFacts } from "@tenure/core";
import type { AttemptOutcome } from "../../gen/tenure/log/v1/partition_event.ts";
import type { Reading } from "../reading.ts";
import { candidateKeyFromWire, candidateKeyToWire, leaseKeyFromWire, leaseKeyToWire } from "./key.ts";

type WireOutcome = NonNullable<AttemptOutcome["outcome"]>;

/** What a change did, on the wire. */
export function outcomeToWire(facts: OutcomeFacts): AttemptOutcome {
  return { outcome: wireOutcomeOf(facts) };
}

function wireOutcomeOf(facts: OutcomeFacts): WireOutcome {
  switch (facts.kind) {
    case "granted": {
      const grants = facts.grants.map(({ holdId, lease, sendNumber, token }) => {
        return { lease: leaseKeyToWire(lease), holdId: BigInt(holdId), token, sendNumber };
      });
      return { $case: "granted", value: { grants } };
    }
    case "released":
      return { $case: "released", value: { released: facts.released } };
    case "changed":
      return { $case: "changed", value: leaseKeyToWire(facts.lease) };
    case "deleted":
      return { $case: "deleted", value: { lease: leaseKeyToWire(facts.lease), lingering: facts.isLingering } };
    case "guardedChanged":
      return { $case: "guardedChanged", value: { lease: leaseKeyToWire(facts.lease), existed: facts.existed } };
    case "candidateChanged":
      return { $case: "candidateChanged", value: candidateKeyToWire(facts.lease, facts.candidate) };
    case "candidateRemoved": {
      const candidate = candidateKeyToWire(facts.lease, facts.candidate);
      return { $case: "candidateRemoved", value: { candidate, existed: facts.existed } };
    }
    case "pinged":
      return { $case: "pinged", value: { lease: leaseKeyToWire(facts.lease), pingNumbers: facts.pingNumbers } };
    case "collected":
      return { $case: "collected", value: facts.isCollected };
  }
}

/** What a change did. A kind that this reader does not know is rejected. */
export function outcomeFromWire(reading: Reading, field: string, given: AttemptOutcome | undefined): OutcomeFacts {
  const outcome = given?.outcome;
  switch (outcome?.$case) {
    case "granted":
      return {
        kind: "granted",
        grants: outcome.value.grants.map(({ holdId, lease, sendNumber, token }) => {
          return { lease: leaseKeyFromWire(reading, field, lease), holdId: Number(holdId), token, sendNumber };
        }),
      };
    case "released":
      return { kind: "released", released: outcome.value.released };
    case "changed":
      return { kind: "changed", lease: leaseKeyFromWire(reading, field, outcome.value) };
    case "deleted": {
      const { lease, lingering } = outcome.value;
      return { kind: "deleted", lease: leaseKeyFromWire(reading, field, lease), isLingering: lingering };
    }
    case "guardedChanged": {
      const { existed, lease } = outcome.value;
      return { kind: "guardedChanged", lease: leaseKeyFromWire(reading, field, lease), existed };
    }
    case "candidateChanged": {
      const { candidate, lease } = candidateKeyFromWire(reading, field, outcome.value);
      return { kind: "candidateChanged", lease, candidate };
    }
    case "candidateRemoved": {
      const { candidate, lease } = candidateKeyFromWire(reading, field, outcome.value.candidate);
      return { kind: "candidateRemoved", lease, candidate, existed: outcome.value.existed };
    }
    case "pinged": {
      const { lease, pingNumbers } = outcome.value;
      return { kind: "pinged", lease: leaseKeyFromWire(reading, field, lease), pingNumbers };
    }
    case "collected":
      return { kind: "collected", isCollected: outcome.value };
    default:
      reading.reject(field, "must be an outcome that this version knows", "unknown");
      return { kind: "collected", isCollected: false };
  }
}
