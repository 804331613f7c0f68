import { Metadata } from "@grpc/grpc-js";
import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { type DescribedCall, describeCall } from "./call-context.ts";

/** The parts of a gRPC call that are read. */
function call(deadline: Date | number, metadata = new Metadata()): DescribedCall {
  return { metadata, getDeadline: () => deadline };
}

describe("describeCall", () => {
  it("passes the time that is left, not an instant", () => {
    const clock = new FakeClock({ wallMs: 10_000 });
    expect(describeCall(call(new Date(12_500)), clock).deadlineMs).toBe(2500);
    expect(describeCall(call(12_500), clock).deadlineMs).toBe(2500);
  });

  it("leaves a call without a deadline to the method's default, and gives a late one its last millisecond", () => {
    const clock = new FakeClock({ wallMs: 10_000 });
    expect(describeCall(call(Number.POSITIVE_INFINITY), clock).deadlineMs).toBeUndefined();
    expect(describeCall(call(9_000), clock).deadlineMs).toBe(1);
  });

  it("passes the trace on and nobody's word about who is calling", () => {
    const metadata = new Metadata();
    metadata.set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    metadata.set("tracestate", "a=1");
    metadata.set("tenure-principal", "root");
    expect(describeCall(call(0, metadata), new FakeClock())).toMatchObject({
      principal: "anonymous",
      trace: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1" },
    });
  });
});
