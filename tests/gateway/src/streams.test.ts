import { createClient } from "@tenure/bus";
import {
  durationFromMs,
  encodeRenewals,
  faultFromFailure,
  LeaseServiceDefinition,
  LeaseServiceWatchRequest,
  LeaseServiceWatchResponse,
  StoreServiceDefinition,
  TermEndReason,
} from "@tenure/contracts";
import { type Deployment, startDeployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claim, key, leases, releaseOf, take } from "./requests.ts";
import { TestSession } from "./test-session.ts";

const { acquire, get, release, watch } = LeaseServiceDefinition.methods;

let deployment: Deployment;
let address: string;

beforeAll(async () => {
  deployment = await startDeployment();
  address = deployment.grpc("gateway-1");
}, 120_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 120_000);

const watchOf = (name: string) => LeaseServiceWatchRequest.fromPartial({ selectors: [key(name)] });

function eventsOf(session: TestSession, number: bigint) {
  return session.replies
    .filter((reply) => reply.number === number && reply.outcome?.$case === "response")
    .flatMap(({ outcome }) =>
      outcome?.$case === "response" ? LeaseServiceWatchResponse.decode(outcome.value).events : [],
    );
}

describe("a session's streams", () => {
  it("end with DEADLINE_EXCEEDED after the time that the client gave them", async () => {
    using session = await TestSession.open(address, "timed");
    const number = session.begin(leases, watch, watchOf("timed"), { timeout: durationFromMs(300) });
    await waitFor(() => session.replies.some((reply) => reply.number === number && reply.end));
    const last = session.replies.findLast((reply) => reply.number === number)?.outcome;
    expect(last?.$case === "failure" && faultFromFailure(last.value).code).toBe("DEADLINE_EXCEEDED");
  });

  it("deliver no more than the client has granted, and the rest when it grants more", async () => {
    using session = await TestSession.open(address, "credit");
    using other = await TestSession.open(address, "credit-other");
    const number = session.begin(leases, watch, watchOf("credited"), { credit: 2 });
    const count = () => session.replies.filter((reply) => reply.number === number).length;
    for (let round = 0; round < 5; round += 1) {
      const { hold } = await take(other, "credited", "h");
      await other.call(leases, release, releaseOf(other, "credited", hold.token));
    }
    await waitFor(() => count() === 2, { describe: "the two responses that were granted" });
    await session.call(leases, get, { lease: key("credited"), read: undefined });
    expect(count()).toBe(2);
    session.send({ credits: [{ number, responses: 100 }] });
    await waitFor(() => eventsOf(session, number).some(({ revision }) => revision > 0n), { describe: "more" });
    await waitFor(() => count() > 2, { describe: "responses beyond the first grant" });
    session.send({ cancels: [number] });
    await session.call(leases, get, { lease: key("credited"), read: undefined });
    const before = count();
    await take(other, "credited", "after");
    await session.call(leases, get, { lease: key("credited"), read: undefined });
    expect(count()).toBe(before);
  });

  it("fail with a typed fault and end with their reply", async () => {
    using session = await TestSession.open(address, "bad-watch");
    const number = session.begin(leases, watch, LeaseServiceWatchRequest.fromPartial({ selectors: [] }));
    const reply = await session.replyOf(number);
    expect(reply).toMatchObject({ end: true, outcome: { $case: "failure", value: { code: 3 } } });
  });
});

describe("a session's news", () => {
  it("tell the holder that its term is asked to end, and that it ended", async () => {
    using session = await TestSession.open(address, "news");
    const { hold } = await take(session, "told", "h");
    const renewals = () =>
      encodeRenewals([
        { partition: hold.partition, sendNumber: Number(session.sendNumber + 1n), holdIds: [Number(hold.holdId)] },
      ]);
    session.send({ renewals: renewals() });
    await waitFor(() => session.acks.length === 1, { describe: "the first renewal" });
    const { lease } = await session.call(leases, get, { lease: key("told"), read: undefined });
    const store = createClient(deployment.bus, StoreServiceDefinition, { principal: "operator" });
    await store.markEndOfTerm({
      attempt: { clientId: "operator", number: 1n, settledBelow: 0n },
      lease: key("told"),
      expectedRevision: lease?.revision ?? 0n,
      endOfTerm: {
        preferredHolder: "next",
        token: hold.token,
        drainBound: durationFromMs(30_000),
        markedAt: undefined,
        author: "operator",
        reason: "a better one is here",
        decisionId: "",
      },
      decision: undefined,
      note: undefined,
      coolDown: undefined,
    });
    await waitFor(() => session.pushes.length === 1, { describe: "the mark" });
    expect(session.pushes[0]?.push).toMatchObject({
      $case: "endOfTerm",
      value: { lease: key("told"), endOfTerm: { preferredHolder: "next", token: hold.token }, cleared: false },
    });
    await session.call(leases, release, releaseOf(session, "told", hold.token));
    await waitFor(() => session.pushes.length === 2, { describe: "the end" });
    expect(session.pushes[1]?.push).toMatchObject({
      $case: "termEnded",
      value: { lease: key("told"), token: hold.token, endReason: TermEndReason.STEPPED_DOWN },
    });
  });

  it("are not told to a session of another client", async () => {
    using holder = await TestSession.open(address, "own");
    using other = await TestSession.open(address, "other");
    const { hold } = await take(holder, "private", "h");
    await other.call(leases, acquire, claim(other, "private", "o")).catch(() => {});
    await holder.call(leases, release, releaseOf(holder, "private", hold.token));
    await other.call(leases, get, { lease: key("private"), read: undefined });
    expect(other.pushes).toEqual([]);
  });
});
