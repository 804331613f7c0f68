import { LeaseServiceAcquireRequest } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { callTimeoutMs } from "./timeouts.ts";

const day = 24 * 60 * 60 * 1_000;
const acquire = (wait?: object) =>
  LeaseServiceAcquireRequest.encode(
    LeaseServiceAcquireRequest.fromPartial(wait === undefined ? {} : { wait }),
  ).finish();

describe("callTimeoutMs", () => {
  it.each([
    ["what the caller asks for", acquire(), 700, 700],
    ["a call's time when it asks for nothing", acquire(), undefined, 5_000],
    ["a wait's own time and a call's more", acquire({ timeout: { seconds: 60n, nanos: 0 } }), undefined, 65_000],
    ["a day for a wait without end", acquire({}), undefined, day],
    ["a day at most", acquire({ timeout: { seconds: 1_000_000n, nanos: 0 } }), undefined, day],
    ["a day for a caller that would wait for ever", acquire({}), 10 * day, day],
  ])("is %s", (_, request, asked, expected) => {
    expect(callTimeoutMs("LeaseService.Acquire", request, asked)).toBe(expected);
  });

  it("does not take another method's field for a wait", () => {
    expect(callTimeoutMs("LeaseService.Update", acquire({}), undefined)).toBe(5_000);
  });
});
