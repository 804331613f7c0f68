import { describe, expect, it } from "vitest";
import {
  StoreServiceCollectRequest,
  StoreServiceElectRequest,
  StoreServiceMarkEndOfTermRequest,
  StoreServicePingRequest,
  StoreServicePutMigrationRequest,
  StoreServiceRecordDecisionRequest,
} from "../../gen/tenure/store/v1/store.ts";
import {
  CandidateServiceAckRequest,
  CandidateServiceCordonRequest,
  CandidateServiceRegisterRequest,
  CandidateServiceWithdrawRequest,
} from "../../gen/tenure/v1/candidate.ts";
import { CandidateStatus } from "../../gen/tenure/v1/candidate_record.ts";
import { LeaseServiceAcceptRequest } from "../../gen/tenure/v1/lease.ts";
import { LeaseState } from "../../gen/tenure/v1/lease_record.ts";
import {
  ackCandidatesCommand,
  cordonCommand,
  registerCandidateCommand,
  withdrawCandidateCommand,
} from "../command/candidate-commands.ts";
import {
  collectCommand,
  electCommand,
  markEndOfTermCommand,
  pingCommand,
  putMigrationCommand,
  recordDecisionCommand,
} from "../command/coordination-commands.ts";
import { acceptCommand } from "../command/term-commands.ts";
import { decisionToWire, migrationToWire } from "../record/kept-message.ts";
import { faultOfAnswer, OwnerDesk, valueOfAnswer } from "../testing/owner-desk.ts";
import { candidateGetResponse } from "./read-answers.ts";
import {
  ackResponse,
  changedCandidateResponse,
  changedLeaseResponse,
  collectResponse,
  pingResponse,
  putMigrationResponse,
  recordDecisionResponse,
  withdrawResponse,
} from "./record-answers.ts";
import { acceptResponse } from "./term-answers.ts";

const lease = { namespace: "billing", name: "scheduler" };
const key = "billing/scheduler";
const candidate = { lease, name: "pod-1" };
const spec = { binaryVersion: "1.2.3", compatibilityVersion: "1.2.0", strategy: { kind: 1 as const } };
const decision = { id: "d-1", lease, reason: "oldest" };

function register(desk: OwnerDesk) {
  const request = CandidateServiceRegisterRequest.create({
    candidate,
    spec,
    priority: { value: 3, expiresAfter: { seconds: 9n, nanos: 0 } },
  });
  return valueOfAnswer(changedCandidateResponse(desk.run(registerCandidateCommand(request, "alice")), desk.view))
    .candidate;
}

function shownCandidate(desk: OwnerDesk) {
  return valueOfAnswer(candidateGetResponse(key, "pod-1", desk.view)).candidate;
}

function ping(desk: OwnerDesk) {
  const request = StoreServicePingRequest.create({ lease, candidates: ["pod-1", "ghost"], coordinator: "c-1" });
  return pingResponse(desk.run(pingCommand(request, "election")));
}

describe("the life of a candidate over the wire", () => {
  it("begins with a registration that shows its positions, times and priority", () => {
    const desk = new OwnerDesk();
    expect(register(desk)).toMatchObject({
      key: candidate,
      uid: "1004",
      revision: 1_006n,
      renewalRevision: 1_006n,
      registeredRevision: 1_006n,
      registeredAt: { seconds: 1_700_000_000n },
      priority: { value: 3, author: "alice", setAt: { seconds: 1_700_000_000n } },
      status: CandidateStatus.REGISTERED,
      principal: "alice",
      spec: { binaryVersion: "1.2.3", preference: 2, health: 1, validity: { seconds: 1_800n } },
    });
    desk.advance(9_000);
    expect(shownCandidate(desk)?.priority).toBeUndefined();
  });

  it("is pinged, answers, is silent, and expires", () => {
    const desk = new OwnerDesk();
    register(desk);
    expect(ping(desk)).toEqual({ pingNumbers: [1n, 0n], revision: desk.sequence });
    expect(shownCandidate(desk)).toMatchObject({
      status: CandidateStatus.PINGED,
      ping: { number: 1n, answeredAt: undefined },
    });
    const ack = CandidateServiceAckRequest.create({
      answers: [
        { candidate, pingNumber: 1n },
        { candidate: { lease, name: "ghost" }, pingNumber: 1n },
      ],
    });
    expect(ackResponse(desk.run(ackCandidatesCommand(ack, "alice")))).toEqual({
      renewalRevisions: [desk.sequence, 0n],
    });
    expect(shownCandidate(desk)).toMatchObject({ status: CandidateStatus.LIVE, ping: { answeredNumber: 1n } });
    ping(desk);
    desk.advance(5_000);
    expect(shownCandidate(desk)?.status).toBe(CandidateStatus.SILENT);
    desk.advance(1_800_001);
    expect(shownCandidate(desk)?.status).toBe(CandidateStatus.EXPIRED);
  });

  it("is cordoned for a while, and withdrawn once", () => {
    const desk = new OwnerDesk();
    register(desk);
    const cordon = CandidateServiceCordonRequest.create({
      candidate,
      note: { reason: "drain" },
      expiresAfter: { seconds: 1n, nanos: 0 },
    });
    const cordoned = valueOfAnswer(changedCandidateResponse(desk.run(cordonCommand(cordon, "root")), desk.view));
    expect(cordoned.candidate?.cordon).toMatchObject({ author: "root", reason: "drain" });
    desk.advance(1_000);
    expect(shownCandidate(desk)?.cordon).toBeUndefined();
    const request = CandidateServiceWithdrawRequest.create({ candidate });
    const withdraw = () => withdrawResponse(desk.run(withdrawCandidateCommand(request, "alice")));
    expect(withdraw()).toEqual({ withdrawn: true, revision: desk.sequence });
    expect(withdraw()).toEqual({ withdrawn: false, revision: 0n });
    expect(faultOfAnswer(candidateGetResponse(key, "pod-1", desk.view)).reason).toBe("CANDIDATE_NOT_FOUND");
  });

  it("is elected, accepts, and is asked to finish", () => {
    const desk = new OwnerDesk();
    register(desk);
    const elect = StoreServiceElectRequest.create({ lease, candidate: "pod-1", coordinator: "c-1", decision });
    const elected = valueOfAnswer(changedLeaseResponse(desk.run(electCommand(elect, "election")), desk.view)).lease;
    expect(elected).toMatchObject({
      state: LeaseState.PENDING,
      candidates: 1,
      pending: { candidate: "pod-1", electedBy: "c-1", decisionId: "d-1", electedAt: { seconds: 1_700_000_000n } },
    });
    const token = elected?.pending?.token ?? 0n;
    const accept = LeaseServiceAcceptRequest.create({ candidate, token, sendNumber: 3n });
    const { grant } = valueOfAnswer(acceptResponse(desk.run(acceptCommand(accept, "alice")), desk.view));
    expect(grant).toMatchObject({
      sendNumber: 3n,
      hold: { token, holder: "pod-1", origin: 2, electedBy: "c-1", decisionId: "d-1" },
    });

    const endOfTerm = { token, preferredHolder: "pod-2", reason: "better" };
    const mark = StoreServiceMarkEndOfTermRequest.create({ lease, expectedRevision: desk.sequence, endOfTerm });
    const marked = valueOfAnswer(
      changedLeaseResponse(desk.run(markEndOfTermCommand(mark, "election")), desk.view),
    ).lease;
    expect(marked).toMatchObject({
      state: LeaseState.ENDING,
      preferredHolder: "pod-2",
      endOfTerm: {
        token,
        author: "election",
        reason: "better",
        drainBound: { seconds: 30n },
        markedAt: { seconds: 1_700_000_000n },
      },
    });
  });

  it("leaves decisions and configurations as they were sent, with the log's revision", () => {
    const desk = new OwnerDesk();
    const put = StoreServicePutMigrationRequest.create({ lock: lease, configuration: { name: "m", document: "text" } });
    const answer = valueOfAnswer(putMigrationResponse(desk.run(putMigrationCommand(put, "migration")), desk.view));
    expect(answer).toMatchObject({ lock: { key: lease }, revision: desk.sequence });
    const { migration } = desk.view.state.leases.get(key)!;
    expect(migrationToWire(migration!)).toMatchObject({
      name: "m",
      document: "text",
      author: "migration",
      revision: desk.sequence,
    });
    const record = StoreServiceRecordDecisionRequest.create({ decision });
    expect(recordDecisionResponse(desk.run(recordDecisionCommand(record, "election")))).toEqual({
      revision: desk.sequence,
    });
    const [kept] = desk.view.state.leases.get(key)?.decisions ?? [];
    expect(decisionToWire(kept!)).toMatchObject(decision);
  });

  it("is collected only when it is dead by the owner's clock", () => {
    const desk = new OwnerDesk();
    register(desk);
    const subject = { $case: "candidate", value: candidate } as const;
    const request = StoreServiceCollectRequest.create({
      subject,
      expectedRevision: 1_006n,
      expectedRenewalRevision: 1_006n,
    });
    const collect = () => collectResponse(desk.run(collectCommand(request, "identity")));
    expect(collect()).toEqual({ collected: false, revision: 0n });
    desk.advance(1_800_001);
    expect(collect()).toEqual({ collected: true, revision: desk.sequence });
  });
});
