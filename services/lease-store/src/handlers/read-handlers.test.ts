import type { CallContext } from "@tenure/bus";
import { LeaseServiceGetRequest } from "@tenure/contracts";
import { partitionOf } from "@tenure/core";
import { leaseReads } from "@tenure/reader";
import { describe, expect, it } from "vitest";
import { World } from "../replica/testing/world.ts";
import { routedReads } from "./read-handlers.ts";

describe("a read on the route of a partition", () => {
  it("is refused when its lease belongs to another partition", async () => {
    await using world = new World();
    const { replica } = await world.join("a", { partitions: 2 });
    for (const partition of replica.partitions) partition.takeOver(false);
    await world.run(20);
    const context = { replica, clock: world.clock };
    const call = { signal: new AbortController().signal } as CallContext;
    const lease = { namespace: "billing", name: "scheduler" };
    const request = LeaseServiceGetRequest.fromPartial({ lease }) as never;
    const here = partitionOf("billing/scheduler", 2);
    const get = (partition: number) => {
      const answer = routedReads(context, partition, leaseReads).get?.(request, call);
      return Promise.all([answer?.catch((thrown: unknown) => thrown), world.run(20)]);
    };
    expect((await get(1 - here))[0]).toMatchObject({ reason: "OWNER_CHANGED", details: { applied: "NO" } });
    expect((await get(here))[0]).toMatchObject({ code: "NOT_FOUND" });
  });
});
