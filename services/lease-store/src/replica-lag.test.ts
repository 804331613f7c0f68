import { presenceSubject } from "@tenure/bus";
import { ServiceStatus } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { ReplicaLag } from "./replica-lag.ts";

/** A bus on which others announce themselves. */
function room() {
  let hear: (payload: Uint8Array, subject: string) => void = () => {};
  const bus = {
    subscribe: (_: string, listener: typeof hear) => {
      hear = listener;
      return () => {
        hear = () => {};
      };
    },
  };
  const announce = (incarnationId: string, partition: number, appliedRevision: bigint) => {
    const status = ServiceStatus.fromPartial({ incarnationId, partitions: [{ partition, appliedRevision }] });
    hear(ServiceStatus.encode(status).finish(), presenceSubject("lease-store", "other"));
  };
  return { bus, announce };
}

describe("the lag of a replica", () => {
  it("is what another has applied beyond what this one has read, and never below nothing", () => {
    const { announce, bus } = room();
    using lag = new ReplicaLag(bus, "now");
    expect(lag.of(3, 0n)).toBe(0n);
    announce("now", 3, 120n);
    announce("now", 3, 100n);
    expect([lag.of(3, 90n), lag.of(3, 120n), lag.of(3, 130n), lag.of(4, 0n)]).toEqual([30n, 0n, 0n, 0n]);
  });

  it("does not count replicas of another life of the deployment", () => {
    const { announce, bus } = room();
    using lag = new ReplicaLag(bus, "now");
    announce("before", 3, 120n);
    expect(lag.of(3, 90n)).toBe(0n);
  });
});
