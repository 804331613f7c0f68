import type { Request } from "./request.ts";
import { candidateSpec, type World } from "./world.ts";

/** The least that a call needs: whatever is taken from it, or spoiled in it, must be refused. */
export interface Sample {
  make(world: World): Request;
  /** Parts of the sample that a caller may leave out, as refusals spell them. */
  readonly optional?: readonly string[];
}

const onHeld: Sample = { make: ({ held }) => ({ lease: held }) };
const onCandidate: Sample = { make: ({ stood }) => ({ candidate: { lease: stood, name: "c" } }) };
const fenceOf = ({ held, renewKey, token }: World) => ({ lease: held, token: String(token), renew_key: renewKey });

/** One for each unary call of the services: a call without one fails the test. */
export const samples: Readonly<Record<string, Sample>> = {
  "LeaseService.Acquire": { make: ({ free }) => ({ claims: [{ lease: free }] }) },
  "LeaseService.Accept": {
    make: ({ pending, pendingToken }) => ({ candidate: { lease: pending, name: "c" }, token: String(pendingToken) }),
  },
  "LeaseService.Renew": {
    make: ({ held, renewKey, token }) => ({
      renewals: [{ lease: held, token: String(token) }],
      renew_key: renewKey,
    }),
  },
  "LeaseService.Release": {
    make: ({ held, renewKey, token }) => ({ items: [{ lease: held, token: String(token) }], renew_key: renewKey }),
  },
  "LeaseService.Get": onHeld,
  "LeaseService.List": { make: () => ({}) },
  "LeaseService.Create": { make: ({ free }) => ({ lease: free }) },
  "LeaseService.Update": { make: ({ held, revision }) => ({ lease: held, expected_revision: String(revision) }) },
  "LeaseService.Delete": onHeld,
  "LeaseService.Revoke": {
    make: ({ held, revision }) => ({ lease: held, expected_revision: String(revision), note: { reason: "a test" } }),
  },
  "LeaseService.Steal": {
    make: ({ held, revision }) => ({ lease: held, expected_revision: String(revision), note: { reason: "a test" } }),
  },
  "LeaseService.History": onHeld,
  "GuardService.Get": { make: ({ held }) => ({ lease: held, key: "k" }) },
  "GuardService.List": onHeld,
  "GuardService.Put": { make: (world) => ({ fence: fenceOf(world), key: "k" }) },
  "GuardService.Delete": { make: (world) => ({ fence: fenceOf(world), key: "k" }) },
  "GuardService.Transact": { make: (world) => ({ fence: fenceOf(world), operations: [{ delete: "k" }] }) },
  "CandidateService.Register": {
    make: ({ stood }) => ({ candidate: { lease: stood, name: "new" }, spec: candidateSpec }),
  },
  "CandidateService.Update": {
    make: ({ stood }) => ({ candidate: { lease: stood, name: "c" }, spec: candidateSpec }),
  },
  "CandidateService.Ack": { make: ({ stood }) => ({ answers: [{ candidate: { lease: stood, name: "c" } }] }) },
  "CandidateService.Withdraw": onCandidate,
  "CandidateService.SetPriority": {
    make: ({ stood }) => ({ candidate: { lease: stood, name: "c" }, priority: { value: 7 } }),
    optional: ["priority"],
  },
  "CandidateService.Cordon": {
    make: ({ stood }) => ({ candidate: { lease: stood, name: "c" }, note: { reason: "a test" } }),
  },
  "CandidateService.Uncordon": onCandidate,
  "CandidateService.Get": onCandidate,
  "CandidateService.List": { make: () => ({}) },
};
