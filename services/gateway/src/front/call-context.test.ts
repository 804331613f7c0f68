import { Metadata } from "@grpc/grpc-js";
import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { type DescribedCall, describeCall } from "./call-context.ts";
import { identifyByCertificate, identifyNobody } from "./principal.ts";

/** The parts of a gRPC call that are read. */
const sslPeerCertificate = { subjectaltname: "URI:spiffe://example.org/billing" };

function call(deadline: Date | number, metadata = new Metadata()): DescribedCall {
  return { metadata, getDeadline: () => deadline, getAuthContext: () => ({ sslPeerCertificate }) };
}

describe("describeCall", () => {
  it("passes the time that is left, not an instant", () => {
    const context = { clock: new FakeClock({ wallMs: 10_000 }), identify: identifyNobody };
    expect(describeCall(call(new Date(12_500)), context).deadlineMs).toBe(2500);
    expect(describeCall(call(12_500), context).deadlineMs).toBe(2500);
  });

  it("leaves a call without a deadline to the method's default, and gives a late one its last millisecond", () => {
    const context = { clock: new FakeClock({ wallMs: 10_000 }), identify: identifyNobody };
    expect(describeCall(call(Number.POSITIVE_INFINITY), context).deadlineMs).toBeUndefined();
    expect(describeCall(call(9_000), context).deadlineMs).toBe(1);
  });

  it("passes the trace on and nobody's word about who is calling", () => {
    const metadata = new Metadata();
    metadata.set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    metadata.set("tracestate", "a=1");
    metadata.set("tenure-principal", "root");
    const clock = new FakeClock();
    expect(describeCall(call(0, metadata), { clock, identify: identifyByCertificate() })).toMatchObject({
      principal: "spiffe://example.org/billing",
    });
    expect(describeCall(call(0, metadata), { clock, identify: identifyNobody })).toMatchObject({
      principal: "anonymous",
      trace: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1" },
    });
  });
});
