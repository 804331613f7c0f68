import type { IncomingMessage, ServerResponse } from "node:http";
import { MigrationServiceReportRequest, MigrationServiceReportResponse } from "@tenure/contracts";
import { describe, expect, it } from "vitest";
import { TenureError } from "../errors.ts";
import { clientUnderTest } from "../testing/client-under-test.ts";
import { type OpenClaim, refusal, unavailable } from "../testing/scripted-session.ts";
import type { ManagerEvent } from "./manager-event.ts";
import type { ControllerManagerOptions } from "./manager-options.ts";

const leader = (name: string, component = "*") => ({ name, component, versionRange: "" });
const cloud = {
  name: "cloud",
  apiVersion: "tenure.dev/v1",
  controllerLeaders: [leader("route"), leader("node", "another")],
};

/** A manager whose store and migration service are the test. */
function managerUnderTest(options: Partial<ControllerManagerOptions> = {}) {
  const { client, exits, session } = clientUnderTest();
  const events: ManagerEvent[] = [];
  const running = new Set<string>();
  const stuck = new Set<string>();
  const broken = new Set<string>();
  const refused = new Set<string>();
  let failure: TenureError | undefined;
  session.answer = async ({ method, request }) => {
    if (!method.startsWith("MigrationService")) return {};
    if (failure !== undefined) throw failure;
    const { controllers = [] } = MigrationServiceReportRequest.fromPartial(request as object).participant ?? {};
    const verdicts = controllers.map(({ name }) => ({ controller: name, refused: refused.has(name), message: "no" }));
    return MigrationServiceReportResponse.fromPartial({ verdicts });
  };
  const manager = client.controllerManager({
    name: "kcm",
    version: "1.21.0",
    lease: "kcm",
    migration: cloud,
    onEvent: (event) => void events.push(event),
    ...options,
  });
  const stopped = (name: string): Promise<void> | void => {
    if (stuck.has(name)) return new Promise(() => undefined);
    if (broken.has(name)) throw new Error("connection already closed");
    running.delete(name);
  };
  for (const name of ["deployment", "route", "node"]) {
    manager.add({ name, start: () => void running.add(name), stop: () => stopped(name) });
  }
  const stop = new AbortController();
  const answered = new Set<OpenClaim>();
  const settle = () => session.clock.advance(0);
  /** The leases that are claimed and not answered. */
  const open = () => session.claims.filter((claim) => !answered.has(claim) && claim.options.signal?.aborted !== true);
  const nameOf = ({ request }: OpenClaim) => request.claims[0]?.lease?.name ?? "";
  return {
    client,
    manager,
    session,
    exits,
    events,
    running,
    stuck,
    broken,
    stop,
    settle,
    refused,
    leaveService: (error = unavailable()) => {
      failure = error;
    },
    run: async () => {
      const finished = manager.run(stop.signal);
      finished.catch(() => undefined);
      await settle();
      return { finished };
    },
    claimed: () => open().map(nameOf).sort(),
    claimOf: (name: string) => open().find((claim) => nameOf(claim) === name),
    grant: async (...names: readonly string[]) => {
      for (const name of names) {
        const claim = open().find((one) => nameOf(one) === name);
        if (claim === undefined) throw new Error(`${name} is not claimed`);
        answered.add(claim);
        claim.grant();
        await settle();
      }
    },
    /** Lets time pass while every term is renewed, but those of one lease. */
    pass: async (durationMs: number, except = "") => {
      for (let passedMs = 0; passedMs < durationMs; passedMs += 100) {
        await session.clock.advance(100);
        for (const { hold, listener } of session.kept) {
          if (hold.lease.name !== except) listener.onRenewed(session.clock.now());
        }
      }
    },
    /** The keeping of a lease's newest term. */
    kept: (name: string) => {
      const found = session.kept.findLast(({ hold }) => hold.lease.name === name);
      if (found === undefined) throw new Error(`${name} is not held`);
      return found;
    },
  };
}

const everything = ["kcm", "cloud", "controller:deployment", "controller:route"] as const;

describe("a controller manager", () => {
  it("[109] [115] [116] stands for the migration lock only while it holds the primary, and runs each under its own", async () => {
    const { claimed, grant, manager, run, running } = managerUnderTest();
    expect(manager.controllers.map(({ placement }) => placement)).toEqual(["nonMigrated", "migrated", "unowned"]);
    await run();
    expect(claimed()).toEqual(["kcm"]);
    await grant("kcm");
    expect(claimed()).toEqual(["cloud", "controller:deployment"]);
    expect([...running]).toEqual([]);
    await grant("controller:deployment");
    expect([...running]).toEqual(["deployment"]);
    await grant("cloud");
    expect(claimed()).toEqual(["controller:route"]);
    await grant("controller:route");
    expect([...running].sort()).toEqual(["deployment", "route"]);
    expect(claimed()).toEqual([]);
  });

  it("runs everything under the primary lock with migration off, and says so to the migration service", async () => {
    const { claimed, grant, manager, run, session } = managerUnderTest({ migration: undefined });
    await run();
    await grant("kcm");
    expect(claimed()).toEqual(["controller:deployment", "controller:node", "controller:route"]);
    expect(manager.controllers.map(({ placement }) => placement)).toEqual([
      "nonMigrated",
      "nonMigrated",
      "nonMigrated",
    ]);
    expect(session.asked[0]).toMatchObject({
      method: "MigrationService.Report",
      request: { participant: { participant: { component: "kcm", version: "1.21.0" }, configurations: [] } },
    });
  });

  it("claims as a participant: the lock with its own configuration's digest", async () => {
    const { claimOf, grant, run } = managerUnderTest();
    await run();
    await grant("kcm");
    const { participant } = claimOf("cloud")?.request.claimant ?? {};
    expect(participant).toMatchObject({ component: "kcm", version: "1.21.0" });
    expect(participant?.configurationDigest).toHaveLength(32);
  });

  it.each(["kcm", "cloud"])(
    "[118] stops all controllers when %s is lost, and stands again for the primary",
    async (lost) => {
      const { claimed, exits, grant, kept, run, running, settle } = managerUnderTest();
      await run();
      await grant(...everything);
      expect(running.size).toBe(2);
      kept(lost).listener.onRefused(refusal("FENCED"));
      await settle();
      expect([...running]).toEqual([]);
      expect(claimed()).toEqual(["kcm"]);
      expect(exits).toEqual([]);
    },
  );

  it("[118] ends the process with its own code after a loss if asked to, when all has stopped and was given back", async () => {
    const { exits, grant, kept, run, running, session, settle } = managerUnderTest({ exitOnLoss: 21 });
    await run();
    await grant(...everything);
    kept("cloud").listener.onRefused(refusal("FENCED"));
    await settle();
    expect(running.size).toBe(0);
    expect(exits).toMatchObject([{ code: 21, why: expect.stringMatching(/lock tests\/cloud \(token \d+\) was lost/) }]);
    const released = session.releases.flatMap(({ items }) => items.map(({ lease }) => lease.name));
    expect(released.sort()).toEqual(["controller:deployment", "controller:route", "kcm"]);
  });

  it("gives a migration lock that is asked back, and goes on with the rest", async () => {
    const { claimed, grant, kept, run, running, session, settle } = managerUnderTest();
    await run();
    await grant(...everything);
    await session.clock.advance(200);
    kept("cloud").listener.onEndOfTerm({ successor: "ccm", cleared: false, reason: "" });
    await settle();
    expect([...running]).toEqual(["deployment"]);
    expect(claimed()).toEqual(["cloud"]);
  });

  it("does not run what the migration service refuses, until it does not any more", async () => {
    const { claimed, events, grant, manager, pass, refused, run, running } = managerUnderTest();
    refused.add("route");
    await run();
    await grant("kcm", "cloud", "controller:deployment");
    expect(claimed()).toEqual([]);
    expect(manager.controllers.find(({ controller }) => controller === "route")?.isRefused).toBe(true);
    refused.clear();
    refused.add("deployment");
    await pass(2_000);
    await grant("controller:route");
    expect([...running]).toEqual(["route"]);
    expect(events.filter(({ kind }) => kind === "controller-refused")).toHaveLength(2);
    expect(events.filter(({ kind }) => kind === "controller-allowed")).toHaveLength(1);
  });

  it("keeps to what the migration service said for 10 s after it is gone, then lets the locks decide", async () => {
    const { claimed, events, grant, leaveService, pass, refused, run } = managerUnderTest();
    refused.add("route");
    await run();
    leaveService();
    await grant("kcm", "cloud");
    await pass(9_900);
    expect(claimed()).toEqual(["controller:deployment"]);
    await pass(2_100);
    expect(claimed()).toEqual(["controller:deployment", "controller:route"]);
    expect(events.filter(({ kind }) => kind === "join-failed")).toHaveLength(1);
  });

  it("runs by its own configuration when the migration service is away from the start", async () => {
    const { grant, leaveService, run, running } = managerUnderTest();
    leaveService();
    await run();
    await grant(...everything);
    expect(running.size).toBe(2);
  });

  it("stops everything before it gives anything back, and leaves", async () => {
    const { grant, run, running, session, stop } = managerUnderTest();
    const { finished } = await run();
    await grant(...everything);
    stop.abort();
    await session.clock.advance(0);
    await finished;
    expect(running.size).toBe(0);
    expect(session.releases).toHaveLength(4);
    expect(session.asked.at(-1)).toMatchObject({ method: "MigrationService.Report", request: { leaving: true } });
  });

  it("ends with the error of a controller that fails, after the others have stopped", async () => {
    const { client, session } = clientUnderTest();
    const manager = client.controllerManager({ name: "kcm", version: "1.21.0", lease: "kcm" });
    manager.add({ name: "route", start: () => Promise.reject(new Error("no cloud")) });
    const finished = manager.run();
    await session.clock.advance(0);
    session.lastClaim.grant();
    await session.clock.advance(0);
    session.lastClaim.grant();
    await expect(finished).rejects.toThrow("no cloud");
    expect(session.releases).toHaveLength(2);
  });

  it("ends the process, and gives nothing back, when a controller's stop fails: its work may go on", async () => {
    const { broken, exits, grant, run, session, settle, stop } = managerUnderTest();
    const { finished } = await run();
    await grant(...everything);
    broken.add("route");
    let isFinished = false;
    finished.finally(() => {
      isFinished = true;
    });
    stop.abort();
    await settle();
    expect(exits).toMatchObject([
      { code: 20, why: expect.stringMatching(/route \(token \d+\) may still run: .*connection already closed/) },
    ]);
    const released = session.releases.flatMap(({ items }) => items.map(({ lease }) => lease.name));
    expect(released).toEqual(["controller:deployment"]);
    expect(isFinished).toBe(false);
  });

  it("stands as a participant also where a coordinator chooses", async () => {
    const { run, session } = managerUnderTest({ coordinated: true });
    await run();
    const registered = session.asked.find(({ method }) => method === "CandidateService.Register");
    expect(registered?.request).toMatchObject({ spec: { participant: { component: "kcm", version: "1.21.0" } } });
  });

  it.each(["INVALID_ARGUMENT", "PERMISSION_DENIED"] as const)(
    "ends when the migration service answers %s: who cannot take part does not run",
    async (code) => {
      const { events, leaveService, run, session } = managerUnderTest();
      leaveService(new TenureError({ code, reason: "INVALID_FIELD", message: "too many controllers" }));
      const { finished } = await run();
      session.lastClaim.grant();
      await session.clock.advance(0);
      await expect(finished).rejects.toThrow("too many controllers");
      expect(events.map(({ kind }) => kind)).not.toContain("controller-started");
    },
  );

  it.each(["kcm", "cloud"])(
    "[120] is unhealthy when %s cannot be renewed and its controllers do not make way",
    async (lock) => {
      const { exits, grant, manager, pass, run, stuck } = managerUnderTest();
      const health = manager.health({ grace: 0 });
      const ask = () => {
        let status = 0;
        const response = {
          writeHead: (code: number) => {
            status = code;
            return response;
          },
          end: () => response,
        };
        health({ url: "/healthz", method: "GET" } as IncomingMessage, response as unknown as ServerResponse);
        return status;
      };
      await run();
      await grant(...everything);
      stuck.add("route");
      await pass(2_000);
      expect(ask()).toBe(200);
      await pass(2_000, lock);
      expect(ask()).toBe(503);
      expect(exits).toMatchObject([{ code: 20, why: expect.stringContaining(`tests/${lock}`) }]);
    },
  );

  it("warns above two migration locks and refuses what cannot work", async () => {
    const { client } = clientUnderTest();
    const named = (name: string, controller: string) => ({ ...cloud, name, controllerLeaders: [leader(controller)] });
    const split = { ...named("c", "three"), controllerLeaders: [leader("three", "kcm"), leader("four", "ccm")] };
    const migration = [named("a", "one"), named("b", "two"), split];
    const events: ManagerEvent[] = [];
    const base = { name: "kcm", version: "1.21.0", lease: "kcm" };
    const manager = client.controllerManager({ ...base, migration, onEvent: (event) => void events.push(event) });
    for (const name of ["one", "two", "three"]) manager.add({ name, start: () => undefined });
    const stop = new AbortController();
    stop.abort();
    await manager.run(stop.signal);
    expect(events.slice(0, 2)).toMatchObject([
      { kind: "warning", message: expect.stringMatching(/^3 migration locks/) },
      { kind: "warning", message: expect.stringMatching(/^c: one component holds the lock at a time/) },
    ]);
    const twice = client.controllerManager({ ...base, migration: [named("a", "one"), named("b", "one")] });
    const route = { name: "route", start: () => undefined };
    expect(() => twice.add({ ...route, name: "one" })).toThrow(/under one lock only \(got a and b\)/);
    expect(() => twice.add(route).add(route)).toThrow(/a name of its own/);
    expect(() => twice.add({ ...route, name: "Not Legal/" })).toThrow(/name/);
    const same = client.controllerManager({ ...base, migration: named("kcm", "one") });
    expect(() => same.add({ ...route, name: "one" })).toThrow(/not the primary lock's \(got kcm\)/);
    expect(() => client.controllerManager({ ...base, name: "" })).toThrow(/must name the component/);
    for (const version of ["v1.22.0", "1.22", ""]) {
      expect(() => client.controllerManager({ ...base, version })).toThrow(/must be a strict semantic version/);
    }
    const doubled = { ...base, migration: [named("a", "one"), named("a", "two")] };
    expect(() => client.controllerManager(doubled)).toThrow(/one configuration for each leaderName \(got a\)/);
  });
});
