import { ServiceStatus } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { missingServices, requiredServices, systemStatus } from "./system-status.ts";

const instance = (service: string, fields: Partial<ServiceStatus> = {}): ServiceStatus =>
  ServiceStatus.fromPartial({ service, instance: `${service}-1`, ready: true, ...fields });

const everyone = requiredServices.map((service) => instance(service));

const incarnation = {
  id: "abc",
  createdAtMicros: 1_700_000_000_000_001n,
  partitions: 8,
  firstSequence: 1n,
  formatVersion: 1,
};

describe("missingServices", () => {
  it("is empty when every service has a ready instance", () => {
    expect(missingServices(everyone)).toEqual([]);
  });

  it("names a service that nobody has heard of", () => {
    expect(missingServices(everyone.slice(1))).toEqual(["lease-store: no instance was heard of"]);
  });

  it("gives the reasons of instances that are not ready, each once", () => {
    const silent = { ready: false, notReadyReasons: ["nats: disconnected"] };
    const instances = [...everyone.slice(0, 3), instance("migration", silent), instance("migration", silent)];
    expect(missingServices(instances)).toEqual(["migration: nats: disconnected"]);
  });

  it("says that a service without a reason is not serving yet", () => {
    expect(missingServices([...everyone.slice(0, 3), instance("migration", { ready: false })])).toEqual([
      "migration: not serving yet",
    ]);
  });

  it("is content with one ready instance among several", () => {
    expect(missingServices([...everyone, instance("election", { ready: false })])).toEqual([]);
  });
});

describe("systemStatus", () => {
  it("lists what should run, with what does, and keeps microseconds of the incarnation", () => {
    const status = systemStatus({ version: "1.2.3", mode: "production", incarnation, instances: everyone });
    expect(status).toMatchObject({ ready: true, version: "1.2.3", mode: "production", incarnationId: "abc" });
    expect(status.incarnationCreatedAt).toEqual({ seconds: 1_700_000_000n, nanos: 1000 });
    expect(status.services.map(({ service, ready }) => [service, ready])).toEqual([
      ["lease-store", true],
      ["identity", true],
      ["election", true],
      ["migration", true],
      ["gateway", false],
    ]);
  });

  it("shows each partition once, as its owner sees it", () => {
    const partition = { partition: 3, epoch: 7n, owner: "lease-store-1", leases: 5n };
    const owner = instance("lease-store", ServiceStatus.fromPartial({ partitions: [partition] }));
    const instances = [
      { ...owner, service: "lease-store", instance: "lease-store-1", ready: true },
      { ...owner, service: "lease-store", instance: "lease-store-2", ready: true },
      ...everyone.slice(1),
    ];
    const { partitions } = systemStatus({ version: "1", mode: "production", incarnation, instances });
    expect(partitions).toMatchObject([partition]);
  });
});
