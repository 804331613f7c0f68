import { FakeClock } from "@tenure/kernel";
import { describe, expect, it } from "vitest";
import { ConnectionLimits } from "./connection-limits.ts";

describe("ConnectionLimits", () => {
  it("counts the open calls of each connection and lets others in when they are over", () => {
    const limits = new ConnectionLimits({ clock: new FakeClock(), streamsPerConnection: 2, requestsPerSecond: 0 });
    const over = limits.admit("a");
    limits.admit("a");
    expect(() => limits.admit("a")).toThrow(
      expect.objectContaining({
        code: "RESOURCE_EXHAUSTED",
        reason: "LIMIT_EXCEEDED",
        details: { applied: "NO", limit: { name: "streams-per-connection", value: 2n } },
      }),
    );
    limits.admit("b");
    over();
    over();
    limits.admit("a");
    expect(() => limits.admit("a")).toThrow("2 calls of this connection are open");
  });

  it("refuses calls that come too fast and says when to come back", async () => {
    const clock = new FakeClock();
    const limits = new ConnectionLimits({ clock, streamsPerConnection: 100, requestsPerSecond: 2 });
    limits.admit("a");
    limits.admit("a");
    expect(() => limits.admit("a")).toThrow(
      expect.objectContaining({
        reason: "RATE_LIMITED",
        details: { applied: "NO", limit: { name: "requests-per-second", value: 2n }, retryAfterMs: 500 },
      }),
    );
    limits.admit("b");
    await clock.advance(500);
    limits.admit("a");
  });

  it("counts the messages of streams with the calls", () => {
    const limits = new ConnectionLimits({ clock: new FakeClock(), streamsPerConnection: 1, requestsPerSecond: 3 });
    limits.admit("a");
    limits.count("a");
    limits.count("a");
    expect(() => limits.count("a")).toThrow(expect.objectContaining({ reason: "RATE_LIMITED" }));
    limits.count("b");
  });

  it("forgets idle connections, so that many short ones take no memory", async () => {
    const clock = new FakeClock();
    const limits = new ConnectionLimits({ clock, streamsPerConnection: 1, requestsPerSecond: 10 });
    limits.admit("open");
    for (let number = 0; number < 5_000; number += 1) {
      limits.admit(`short-${number}`)();
      if (number % 500 === 0) await clock.advance(2_000);
    }
    expect(limits.size).toBeLessThan(2_000);
    expect(() => limits.admit("open")).toThrow("1 calls of this connection are open");
  });
});
