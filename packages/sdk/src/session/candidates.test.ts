import { describe, expect, it } from "vitest";
import { sessionUnderTest } from "../testing/session-under-test.ts";

const candidate = { lease: { namespace: "tests", name: "x" }, name: "c" };
const ping = { number: 7n, answeredNumber: 0n, pingedAt: undefined, answeredAt: undefined };
const pinged = { pushes: [{ push: { $case: "ping" as const, value: { candidate, ping } } }] };

describe("candidates", () => {
  it("that are followed answer pings in the next message, and hear that they were chosen", async () => {
    const { session, transport, clock } = await sessionUnderTest();
    const told: string[] = [];
    const unfollow = session.followCandidate(candidate, {
      onPing: ({ number }) => told.push(`ping ${number}`),
      onPending: ({ token }) => told.push(`pending ${token}`),
    });
    transport.last.say(pinged);
    await clock.advance(0);
    expect(transport.last.sent.at(-1)?.answers).toEqual([{ candidate, pingNumber: 7n }]);
    const pending = { token: 9n } as never;
    transport.last.say({ pushes: [{ push: { $case: "pending", value: { candidate, pending } } }] });
    expect(told).toEqual(["ping 7", "pending 9"]);
    unfollow();
    const { length } = transport.last.sent;
    transport.last.say(pinged);
    await clock.advance(0);
    expect(transport.last.sent).toHaveLength(length);
  });
});
