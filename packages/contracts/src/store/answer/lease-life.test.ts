import { describe, expect, it } from "vitest";
import {
  LeaseServiceAcquireRequest,
  LeaseServiceCreateRequest,
  LeaseServiceDeleteRequest,
  LeaseServiceHistoryRequest,
  LeaseServiceReleaseRequest,
  LeaseServiceRenewRequest,
  LeaseServiceRevokeRequest,
  LeaseServiceStealRequest,
  LeaseServiceUpdateRequest,
} from "../../gen/tenure/v1/lease.ts";
import { LeaseState } from "../../gen/tenure/v1/lease_record.ts";
import { createCommand, deleteCommand, revokeCommand, stealCommand, updateCommand } from "../command/lease-commands.ts";
import { acquireCommand, releaseCommand, renewCommand } from "../command/term-commands.ts";
import { faultOfAnswer, OwnerDesk, valueOfAnswer } from "../testing/owner-desk.ts";
import { historyResponse, leaseGetResponse } from "./read-answers.ts";
import { changedLeaseResponse, deleteResponse } from "./record-answers.ts";
import { acquireResponse, releaseResponse, renewResponse, stealResponse } from "./term-answers.ts";

const lease = { namespace: "billing", name: "scheduler" };
const key = "billing/scheduler";
const note = { reason: "because" };

function acquire(desk: OwnerDesk, holder: string, more: object = {}) {
  const request = LeaseServiceAcquireRequest.create({
    claims: [{ lease }],
    claimant: { holder },
    sendNumber: 7n,
    ...more,
  });
  return acquireResponse(desk.run(acquireCommand(request, holder)), desk.view);
}

describe("the life of a lease over the wire", () => {
  it("begins with a grant that shows the term with its numbers and times", () => {
    const desk = new OwnerDesk();
    const { grants } = valueOfAnswer(acquire(desk, "pod-1"));
    expect(grants).toHaveLength(1);
    expect(grants[0]).toMatchObject({
      lease,
      sendNumber: 7n,
      revision: desk.sequence,
      hold: {
        partition: 3,
        token: 1_004n,
        holder: "pod-1",
        principal: "pod-1",
        mode: 1,
        units: 1,
        origin: 1,
        leaseDuration: { seconds: 15n, nanos: 0 },
        acquiredAt: { seconds: 1_700_000_000n, nanos: 0 },
        renewedAt: { seconds: 1_700_000_000n, nanos: 0 },
      },
    });
  });

  it("refuses another claim with the holder, its token and how long", () => {
    const desk = new OwnerDesk();
    acquire(desk, "pod-1");
    desk.advance(2_000);
    const fault = faultOfAnswer(acquire(desk, "pod-2"));
    expect(fault).toMatchObject({ code: "FAILED_PRECONDITION", reason: "LEASE_HELD" });
    expect(fault.details).toMatchObject({ holder: "pod-1", token: 1_004n, retryAfterMs: 13_000, applied: "NO" });
  });

  it("answers each renewal on its own, with the send that was committed", () => {
    const desk = new OwnerDesk();
    acquire(desk, "pod-1");
    const renewals = [
      { lease, token: 1_004n, sendNumber: 9n },
      { lease, token: 1_003n, sendNumber: 9n },
    ];
    const request = LeaseServiceRenewRequest.create({ renewals });
    const { results } = valueOfAnswer(renewResponse(request.renewals, desk.run(renewCommand(request, "pod-1"))));
    expect(results[0]).toMatchObject({ sendNumber: 9n, renewalRevision: desk.sequence, failure: undefined });
    expect(results[1]).toMatchObject({
      sendNumber: 0n,
      renewalRevision: 0n,
      failure: { detail: { reasonName: "FENCED" } },
    });
    const shown = valueOfAnswer(leaseGetResponse(key, desk.view)).lease;
    expect([shown?.revision, shown?.renewalRevision]).toEqual([1_006n, 1_009n]);
  });

  it("gives a duplicate the recorded grant, also when the term is over", () => {
    const desk = new OwnerDesk();
    const attempt = { clientId: "c", number: 1n };
    const first = valueOfAnswer(acquire(desk, "pod-1", { attempt }));
    expect(acquire(desk, "pod-1", { attempt, sendNumber: 8n })).toEqual(first);
    const release = LeaseServiceReleaseRequest.create({
      items: [
        { lease, token: 1_004n },
        { lease, token: 9n },
      ],
    });
    const released = releaseResponse(desk.run(releaseCommand(release, "pod-1")));
    expect(released).toEqual({ released: [true, false], revision: desk.sequence });
    const late = valueOfAnswer(acquire(desk, "pod-1", { attempt }));
    expect(late.grants[0]).toMatchObject({ revision: 1_006n, hold: { token: 1_004n, holder: "pod-1" } });
  });

  it("shows a lease as created, updated, revoked, deleted, and who waits for it", () => {
    const desk = new OwnerDesk();
    const create = LeaseServiceCreateRequest.create({ lease, spec: { labels: { tier: "gold" } } });
    const created = valueOfAnswer(changedLeaseResponse(desk.run(createCommand(create, "root")), desk.view)).lease;
    expect(created).toMatchObject({
      uid: "1004",
      revision: 1_006n,
      state: LeaseState.FREE,
      transitions: 0,
      waiters: 0,
    });
    expect(created?.spec).toMatchObject({ labels: { tier: "gold" }, fallbackDelay: undefined, capacity: 1 });

    const update = LeaseServiceUpdateRequest.create({
      lease,
      expectedRevision: 1_006n,
      expectedUid: "1004",
      spec: { lockDelay: { seconds: 2n, nanos: 0 } },
      updateMask: ["lock_delay"],
    });
    const updated = valueOfAnswer(changedLeaseResponse(desk.run(updateCommand(update, "root")), desk.view)).lease;
    expect(updated?.spec).toMatchObject({ labels: { tier: "gold" }, lockDelay: { seconds: 2n } });

    acquire(desk, "pod-1");
    acquire(desk, "pod-2", { wait: {}, attempt: { clientId: "c", number: 1n } });
    const held = valueOfAnswer(leaseGetResponse(key, desk.view)).lease;
    expect(held).toMatchObject({ state: LeaseState.HELD, waiters: 1, freeAfter: { seconds: 17n, nanos: 0 } });

    const revoke = LeaseServiceRevokeRequest.create({ lease, expectedRevision: held?.revision ?? 0n, note });
    const revoked = valueOfAnswer(changedLeaseResponse(desk.run(revokeCommand(revoke, "root")), desk.view)).lease;
    expect(revoked).toMatchObject({
      state: LeaseState.TOMBSTONE,
      tombstone: { reason: 7, author: "root", note: "because" },
    });

    const remove = LeaseServiceDeleteRequest.create({ lease });
    const deleted = valueOfAnswer(deleteResponse(desk.run(deleteCommand(remove, "root")), desk.view)).lease;
    expect(deleted).toMatchObject({
      state: LeaseState.TOMBSTONE,
      tombstone: { reason: 5 },
      lastToken: held?.lastToken,
    });
    expect(faultOfAnswer(leaseGetResponse(key, desk.view)).reason).toBe("LEASE_NOT_FOUND");
  });

  it("shows nothing of a lease that a dry run would create", () => {
    const desk = new OwnerDesk();
    const create = LeaseServiceCreateRequest.create({ lease, dryRun: true });
    expect(changedLeaseResponse(desk.run(createCommand(create, "root")), desk.view)).toEqual({ lease: undefined });
  });

  it("steals a running term with a new token", () => {
    const desk = new OwnerDesk();
    acquire(desk, "pod-1");
    const request = LeaseServiceStealRequest.create({
      lease,
      expectedRevision: desk.sequence,
      note,
      claimant: { holder: "pod-2" },
    });
    const { grant } = valueOfAnswer(stealResponse(desk.run(stealCommand(request, "root")), desk.view));
    expect(grant?.hold).toMatchObject({ holder: "pod-2", origin: 5, token: 1_007n });
  });

  it("keeps a history that is read newest first and in pages", () => {
    const desk = new OwnerDesk();
    const page = (token = "") => {
      const request = LeaseServiceHistoryRequest.create({ lease, page: { size: 2, token } });
      return valueOfAnswer(historyResponse(key, request, desk.view));
    };
    acquire(desk, "pod-1");
    const first = page();
    expect(first.transitions.map(({ kind }) => kind)).toEqual([2, 1]);
    expect(first.page?.nextToken).toBe("");

    desk.advance(1_500);
    const release = LeaseServiceReleaseRequest.create({ items: [{ lease, token: 1_004n }], note });
    desk.run(releaseCommand(release, "pod-1"));
    const newest = page();
    expect(newest.transitions[0]).toMatchObject({
      kind: 4,
      holder: "pod-1",
      token: 1_004n,
      endReason: 1,
      origin: 0,
      heldFor: { seconds: 1n, nanos: 500_000_000 },
      author: "pod-1",
      reason: "because",
      at: { seconds: 1_700_000_001n, nanos: 500_000_000 },
    });
    acquire(desk, "pod-2");
    const rest = page(newest.page?.nextToken);
    expect(rest.transitions.map(({ kind }) => kind)).toEqual([1]);
    expect(rest.page).toMatchObject({ nextToken: "", revision: newest.page?.revision });
    const other = LeaseServiceHistoryRequest.create({
      lease,
      page: { token: newest.page?.nextToken ?? "" },
      afterRevision: 1n,
    });
    expect(faultOfAnswer(historyResponse(key, other, desk.view)).reason).toBe("TOKEN_INVALID");
  });

  it("answers a claim that has no answer yet as a mistake of the server", () => {
    const desk = new OwnerDesk();
    acquire(desk, "pod-1");
    const fault = faultOfAnswer(acquire(desk, "pod-2", { wait: {}, attempt: { clientId: "c", number: 1n } }));
    expect(fault).toMatchObject({ code: "INTERNAL", details: { applied: "UNKNOWN" } });
  });
});
