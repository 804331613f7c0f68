import { acquireCommand, LeaseServiceAcquireRequest } from "@tenure/contracts";
import type { CommandOf } from "@tenure/core";
import { describe, expect, it } from "vitest";
import { agedWait } from "./aged-wait.ts";
import { unwrap } from "./handler-context.ts";

type Wait = Parameters<typeof LeaseServiceAcquireRequest.fromPartial>[0]["wait"];

function claimOf(wait: Wait) {
  const claims = [{ lease: { namespace: "billing", name: "scheduler" } }];
  const attempt = { clientId: "a", number: 1n, settledBelow: 0n };
  const request = LeaseServiceAcquireRequest.fromPartial({ attempt, claims, claimant: { holder: "a" }, wait });
  return { request, command: unwrap(acquireCommand(request, "alice")) };
}

const seconds = (count: number) => ({ seconds: BigInt(count), nanos: 0 });

describe("a wait that is sent again", () => {
  it("carries how long it has waited in all, and how much longer it may", () => {
    const { command, request } = claimOf({ age: seconds(2), timeout: seconds(10) });
    const again = agedWait(command, request, 3_000.4);
    expect((again.command as CommandOf<"acquire">).wait).toMatchObject({ ageMs: 5_000, timeoutMs: 7_000 });
    expect(again.request.wait).toMatchObject({ age: seconds(5), timeout: seconds(7) });
    expect(unwrap(acquireCommand(again.request, "alice"))).toEqual(again.command);
  });

  it("has a moment left when its time is over, so that its owner ends it", () => {
    const { command, request } = claimOf({ timeout: seconds(1) });
    expect(agedWait(command, request, 5_000).request.wait?.timeout).toEqual({ seconds: 0n, nanos: 1_000_000 });
  });

  it("has no end if it asked for none, and is the same when no time has passed", () => {
    const { command, request } = claimOf({});
    expect(agedWait(command, request, 1_000).request.wait).toMatchObject({ age: seconds(1), timeout: undefined });
    expect(agedWait(command, request, 0.5)).toEqual({ command, request });
  });
});
