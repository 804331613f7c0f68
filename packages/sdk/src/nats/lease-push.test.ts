import { CandidateEvent, ChangeKind, LeaseEvent, TermEndReason, TransitionKind } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { candidatePushes, leasePushes } from "./lease-push.ts";

const key = { namespace: "tests", name: "x" };
const endOfTerm = { token: 40n, preferredHolder: "b" };
const pending = { token: 41n, candidate: "c" };

function told(event: Parameters<typeof LeaseEvent.create>[0]): readonly (string | undefined)[] {
  return leasePushes(LeaseEvent.create(event)).map(({ push }) => push?.$case);
}

describe("what a change of a lease says", () => {
  it("is the end of a term, with its reason and note", () => {
    const line = { kind: TransitionKind.ENDED, token: 40n, endReason: TermEndReason.REVOKED, reason: "why" };
    const [push] = leasePushes(LeaseEvent.create({ kind: ChangeKind.CHANGED, lease: { key }, transitions: [line] }));
    expect(push?.push?.value).toMatchObject({ lease: key, token: 40n, endReason: TermEndReason.REVOKED, note: "why" });
  });

  it("is a mark or a choice in the change that made it, and after a gap as long as it stands", () => {
    const lease = { key, endOfTerm, pending };
    const line = (kind: TransitionKind) => ({ kind: ChangeKind.CHANGED, lease, transitions: [{ kind }] });
    expect(told(line(TransitionKind.END_OF_TERM_MARKED))).toEqual(["endOfTerm"]);
    expect(told(line(TransitionKind.ELECTED))).toEqual(["pending"]);
    expect(told(line(TransitionKind.UPDATED))).toEqual([]);
    expect(told({ kind: ChangeKind.PRESENT, lease })).toEqual(["endOfTerm", "pending"]);
    expect(told({ kind: ChangeKind.CHANGED })).toEqual([]);
  });

  it("is the withdrawal of a mark", () => {
    const transitions = [{ kind: TransitionKind.END_OF_TERM_CLEARED }];
    const [push] = leasePushes(LeaseEvent.create({ kind: ChangeKind.CHANGED, lease: { key }, transitions }));
    expect(push?.push?.value).toMatchObject({ lease: key, endOfTerm: undefined, cleared: true });
  });
});

describe("what a change of a candidate says", () => {
  it("is a question that was not answered", () => {
    const candidate = { key: { lease: key, name: "c" } };
    const say = (number: bigint, answeredNumber: bigint, kind: ChangeKind = ChangeKind.CHANGED) =>
      candidatePushes(CandidateEvent.create({ kind, candidate: { ...candidate, ping: { number, answeredNumber } } }));
    expect(say(3n, 2n)).toMatchObject([{ push: { $case: "ping", value: { ping: { number: 3n } } } }]);
    expect(say(3n, 3n)).toEqual([]);
    expect(say(3n, 2n, ChangeKind.REMOVED)).toEqual([]);
    expect(candidatePushes(CandidateEvent.create({ kind: ChangeKind.CHANGED, candidate }))).toEqual([]);
  });
});
