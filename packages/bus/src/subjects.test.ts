import { Fault } from "@tenure/kernel";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  callSubject,
  callWildcard,
  controlAllSubject,
  controlSubject,
  controlWildcard,
  inboxPrefixOf,
  logSubject,
  ownerSubject,
  partitionRoute,
  presenceSubject,
  presenceWildcard,
  probeSubject,
  subjectToken,
} from "./subjects.ts";

describe("subjects", () => {
  test.each([
    [callSubject("LeaseService", "Acquire"), "tenure.rpc.LeaseService.Acquire"],
    [callSubject("LeaseService", "Acquire", "3.17"), "tenure.rpc.LeaseService.Acquire.3.17"],
    [callWildcard("LeaseService"), "tenure.rpc.LeaseService.>"],
    [partitionRoute(3, 17n), "3.17"],
    [controlSubject("LeaseService", "k3J"), "tenure.control.LeaseService.k3J"],
    [controlAllSubject("LeaseService"), "tenure.control.LeaseService.all"],
    [controlWildcard("LeaseService"), "tenure.control.LeaseService.*"],
    [presenceSubject("lease-store", "k3J"), "tenure.presence.lease-store.k3J"],
    [presenceWildcard(), "tenure.presence.*.*"],
    [presenceWildcard("lease-store"), "tenure.presence.lease-store.*"],
    [ownerSubject("k3J"), "tenure.owner.k3J"],
    [logSubject(7), "tenure.log.7"],
    [probeSubject("k3J"), "tenure.probe.k3J"],
    [inboxPrefixOf("lease-store"), "_INBOX_lease-store"],
  ])("%s is spelled %s", (actual, expected) => {
    expect(actual).toBe(expected);
  });

  test.each(["", "a.b", "*", ">", "a b", "a\tb", "a\r\nPUB x 0", "ä", "x".repeat(129)])(
    "refuses %j as a token, naming it",
    (name) => {
      expect(() => subjectToken(name, "service")).toThrow(Fault);
      expect(() => callSubject(name, "Acquire")).toThrow(/^service .* cannot be part of a subject/);
    },
  );

  test.each(["", ".", "3.", ".17", "3..17", "3.*", "3.>", "3 .17"])("refuses the route %j", (route) => {
    expect(() => callSubject("LeaseService", "Acquire", route)).toThrow(/^route /);
  });

  test("refuses a partition that is not a plain number", () => {
    expect(() => logSubject(-1)).toThrow(/^partition /);
    expect(() => logSubject(Number.NaN)).toThrow(/^partition /);
    expect(() => logSubject(1.5)).toThrow(/^partition /);
  });

  test("no name yields a subject with another number of tokens or with a wildcard", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (service, method) => {
        let subject: string;
        try {
          subject = callSubject(service, method);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          return;
        }
        expect(subject.split(".")).toEqual(["tenure", "rpc", service, method]);
        expect(subject).toMatch(/^[A-Za-z0-9_.-]+$/);
      }),
    );
  });
});
