import { publicServices, simpleServiceName } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { permissionsOf } from "./permissions.ts";
import { calledBy, callersOf, servedBy, serviceUsers, users } from "./topology.ts";

describe("permissionsOf", () => {
  it.each(users)("gives %s no wildcard that crosses into other things", (user) => {
    const { publish, subscribe } = permissionsOf(user);
    for (const subject of [...publish, ...subscribe]) {
      expect(subject).not.toMatch(/^(>|\*|tenure\.>|tenure\.rpc\.>|\$JS\.>|\$JS\.API\.>|\$SYS\.>|_INBOX\.>|\$O\.>)/);
      expect(subject).not.toMatch(/^\$JS\.API\.STREAM\.(UPDATE|DELETE|RESTORE|SNAPSHOT)/);
    }
  });

  it.each(users)("lets %s subscribe to its own inbox and to no other", (user) => {
    const inboxes = permissionsOf(user).subscribe.filter((subject) => subject.startsWith("_INBOX"));
    expect(inboxes).toEqual([`_INBOX_${user}.>`]);
  });

  it("gives every right to make, purge and append to one user", () => {
    const holders = (pattern: RegExp) =>
      users.filter((user) => permissionsOf(user).publish.some((subject) => pattern.test(subject)));
    expect(holders(/STREAM\.CREATE/)).toEqual(["provision"]);
    expect(holders(/STREAM\.PURGE/)).toEqual(["compactor"]);
    expect(holders(/^tenure\.log\./)).toEqual(["lease-store"]);
    expect(holders(/^tenure\.incarnation/)).toEqual(["provision"]);
    expect(holders(/^\$SYS/)).toEqual(["system"]);
  });
});

describe("an application's user", () => {
  const { publish, subscribe } = permissionsOf("component");

  it("may call what the gateway serves for it, and of the store's own service renewals and beats alone", () => {
    expect(publish).toContain("tenure.rpc.LeaseService.>");
    const store = publish.filter((subject) => subject.startsWith("tenure.rpc.StoreService."));
    expect(store).toEqual([
      "tenure.rpc.StoreService.Renew",
      "tenure.rpc.StoreService.Renew.*.*",
      "tenure.rpc.StoreService.Beat",
      "tenure.rpc.StoreService.Beat.*.*",
    ]);
  });

  it("hears its answers and the owners, and reaches neither JetStream nor anybody's inbox", () => {
    expect(subscribe).toEqual(["_INBOX_component.>", "tenure.owner.*"]);
    for (const subject of publish) expect(subject).toMatch(/^tenure\.(rpc|control)\./);
  });
});

describe("the topology", () => {
  it("has a server for every public service, and lets the gateway call it", () => {
    for (const fullName of Object.keys(publicServices)) {
      const service = simpleServiceName(fullName);
      expect(serviceUsers.filter((user) => servedBy(user).includes(service))).not.toEqual([]);
      expect(calledBy("gateway")).toContain(service);
    }
  });

  it("lets answers reach whoever calls, and nobody else", () => {
    expect(callersOf("lease-store")).toEqual([...serviceUsers, "component"]);
    expect(callersOf("election")).toEqual(["gateway", "component"]);
  });
});
