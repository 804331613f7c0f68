import { ServiceStatus, Severity } from "@tenure/contracts";
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

const view = { version: "1", mode: "production", incarnation, leases: undefined, log: undefined };

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
    const status = systemStatus({ ...view, version: "1.2.3", instances: everyone });
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
    const { alarms, partitions } = systemStatus({ ...view, instances });
    expect(partitions).toHaveLength(8);
    expect(partitions[3]).toMatchObject(partition);
    expect(partitions[4]).toMatchObject({ partition: 4, owner: "" });
    expect(alarms).toMatchObject([{ name: "PARTITIONS_UNOWNED", subject: "partitions 0, 1, 2, 4, 5, 6, 7" }]);
  });

  it("tells each alarm once, the worst first, with those that nobody can see alone", () => {
    const owned = Array.from({ length: 8 }, (_, partition) => ({
      partition,
      owner: "lease-store-1",
      halted: partition === 2,
    }));
    const store = instance("lease-store", ServiceStatus.fromPartial({ partitions: owned }));
    const held = { name: "COLLECTION_HELD_BACK", subject: "identities", message: "too many" };
    const twice = {
      name: "MIGRATION_DOUBLE_RUN",
      subject: "kube-system/route",
      message: "ran twice",
      guaranteeLost: true,
    };
    const alarmed = (alarms: object[]) => instance("identity", ServiceStatus.fromPartial({ alarms }));
    const instances = [
      { ...store, service: "lease-store", instance: "lease-store-1", ready: true },
      alarmed([held]),
      alarmed([held, twice]),
    ];
    const log = { bytes: 71, messages: 1, limitBytes: 100 };
    const { alarms } = systemStatus({ ...view, instances, log });
    expect(alarms.map(({ name, severity }) => [name, severity])).toEqual([
      ["PARTITIONS_HALTED", Severity.UNSAFE],
      ["MIGRATION_DOUBLE_RUN", Severity.UNSAFE],
      ["LOG_STORAGE_HIGH", Severity.WARNING],
      ["COLLECTION_HELD_BACK", Severity.WARNING],
    ]);
    expect(systemStatus({ ...view, instances: [], log: { ...log, bytes: 69 } }).alarms).toHaveLength(1);
  });
});
