import {
  MigrationServiceJoinRequest,
  MigrationServiceReportRequest,
  MigrationServiceReportResponse,
} from "@tenure/contracts";
import { FakeClock, Fault, type FaultCode } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { Join } from "./join.ts";

/** A stream whose migration service is the test. */
function setUp() {
  const clock = new FakeClock();
  const reports: { readonly isLeaving: boolean; answer(outcome: Uint8Array | Fault): void }[] = [];
  const calls: ConstructorParameters<typeof Join>[0]["calls"] = {
    start(_method, request, _options, done) {
      reports.push({ isLeaving: MigrationServiceReportRequest.decode(request).leaving, answer: done });
      return { cancel: () => {} };
    },
  };
  const sent: bigint[] = [];
  const failures: unknown[] = [];
  const join = new Join({ calls, clock }, "ann", {
    send: ({ revision }) => void sent.push(revision),
    fail: (thrown) => void failures.push(thrown),
  });
  const say = (leaving: boolean) =>
    join.receive(MigrationServiceJoinRequest.fromPartial({ participant: { instance: "a" }, leaving }));
  return { clock, failures, reports, say, sent };
}

const fault = (code: FaultCode) => new Fault({ code, reason: "X", message: "no" });
const answered = MigrationServiceReportResponse.encode(
  MigrationServiceReportResponse.fromPartial({ revision: 3n }),
).finish();

describe("Join", () => {
  it.each(["UNAVAILABLE", "DEADLINE_EXCEEDED"] as const)("goes on after %s with the next report", async (code) => {
    const { clock, failures, reports, say, sent } = setUp();
    say(false);
    reports[0]?.answer(answered);
    say(false);
    reports[1]?.answer(fault(code));
    await clock.advance(2_000);
    reports[2]?.answer(answered);
    expect({ failures, sent }, "each message has its answer").toEqual({ failures: [], sent: [3n, 3n] });
  });

  it("ends with what no further report can mend", async () => {
    const { clock, failures, reports, say } = setUp();
    say(false);
    reports[0]?.answer(fault("INVALID_ARGUMENT"));
    await clock.advance(10_000);
    expect([failures.length, reports.length]).toEqual([1, 1]);
  });

  it("leaves once, and again only if nobody heard it", async () => {
    const { clock, reports, say } = setUp();
    say(true);
    reports[0]?.answer(fault("UNAVAILABLE"));
    await clock.advance(2_000);
    reports[1]?.answer(answered);
    await clock.advance(10_000);
    expect(reports.map(({ isLeaving }) => isLeaving)).toEqual([true, true]);
  });
});
