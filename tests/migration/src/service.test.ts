import {
  ChangeKind,
  ControllerPlacement,
  LeaseServiceAcquireRequest,
  type MigrationEvent,
  MigrationServiceDeleteRequest,
  MigrationServiceGetRequest,
  MigrationServiceListRequest,
  MigrationServiceReportRequest,
  MigrationServiceValidateRequest,
  MigrationServiceWatchRequest,
  ReadConsistency,
  TermEndReason,
  WatchMarkKind,
} from "@tenure/contracts";
import { type Deployment, startDeployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { JoinStream } from "./join-stream.ts";
import { documentOf, faultOf, type Manager, MigrationDesk, meaningOf, nameIn, shortAlarm } from "./migration-desk.ts";

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({
    services: { "lease-store": 1, gateway: 1, migration: 2 },
    args: { migration: ["--participant-duration=15s"] },
    partitions: 2,
    isSecured: true,
  });
});
afterAll(() => deployment?.[Symbol.asyncDispose]());

const any = documentOf("moves", { route: "*", service: "*" });
const toCloud = documentOf("moves", { route: "cloud", service: "cloud" });
const controllers = ["route", "service"];
const kube: Manager = { instance: "kube-1", component: "kube", version: "1.21.0", controllers };
const cloud: Manager = { instance: "cloud-1", component: "cloud", version: "1.22.0", controllers };
const withAny = { configurations: [meaningOf(any)] };

describe("documents", () => {
  it("[112] [114] are checked with line, field and rule, all at once, and change nothing", async () => {
    const document = documentOf("moves", { route: "''", rout: "*", service: "*" });
    const request = MigrationServiceValidateRequest.fromPartial({
      namespace: "documents",
      document,
      knownControllers: ["node-route", "service"],
      aliases: { route: "node-route" },
    });
    const { configuration, findings, valid } = await deployment.migrations.validate(request);
    expect({ configuration, valid }).toEqual({ configuration: undefined, valid: false });
    expect(findings.map(({ field, line, rule }) => `${line} ${field} ${rule}`)).toEqual([
      "5 controllerLeaders[0].name is a former name: write node-route",
      "6 controllerLeaders[0].component must not be empty",
      "7 controllerLeaders[1].name must be a known controller: node-route, service",
    ]);
    const refused = await faultOf(new MigrationDesk(deployment, "documents").apply(document));
    expect(refused).toMatchObject({ code: "INVALID_ARGUMENT", reason: "DOCUMENT_INVALID" });
    expect(refused.details.violations).toEqual([
      { field: "controllerLeaders[0].component", rule: "line 6: must not be empty", value: "" },
    ]);
  });

  it("are in force once applied, shown, listed, compared by revision, and ended", async () => {
    const desk = new MigrationDesk(deployment, "life");
    const named = { namespace: "life", name: "moves" };
    const { configuration: tried } = await desk.apply(any, { dryRun: true });
    expect(tried).toMatchObject({ name: "moves", lock: { namespace: "life", name: "moves" } });
    const read = { consistency: ReadConsistency.LINEARIZABLE };
    const get = () => deployment.migrations.get(MigrationServiceGetRequest.fromPartial({ ...named, read }));
    expect((await faultOf(get())).reason).toBe("CONFIGURATION_NOT_FOUND");
    const { configuration } = await desk.apply(any, { expectedRevision: 0n, coordinated: true });
    expect((await faultOf(desk.apply(any, { expectedRevision: 0n }))).reason).toBe("REVISION_CONFLICT");
    expect(configuration).toMatchObject({ author: "test", coordinated: true, document: any, resourceLock: "leases" });
    expect((await get()).configuration).toEqual(configuration);
    await desk.apply(documentOf("others", { volume: "*" }));
    const listOf = async (token: string) =>
      deployment.migrations.list(
        MigrationServiceListRequest.fromPartial({ namespace: "life", read, page: { size: 1, token } }),
      );
    const first = await listOf("");
    const second = await listOf(first.page?.nextToken ?? "");
    expect([...first.configurations, ...second.configurations].map(({ name }) => name)).toEqual(["moves", "others"]);
    expect(second.page?.nextToken).toBe("");
    await deployment.migrations.delete(MigrationServiceDeleteRequest.fromPartial(named));
    expect((await faultOf(get())).reason).toBe("CONFIGURATION_NOT_FOUND");
  });

  it("name each controller under one lock, keep a held lock's set, and not a primary lock", async () => {
    const desk = new MigrationDesk(deployment, "sets");
    const { warnings } = await desk.apply(any);
    expect(warnings).toEqual([]);
    const overlap = await faultOf(desk.apply(documentOf("second", { volume: "*", service: "*" })));
    expect(overlap.reason).toBe("DOCUMENT_INVALID");
    expect(overlap.message).toBe(
      'line 7: controllerLeaders[1].name: must be under one lock: configuration moves has it (is "service")',
    );
    const token = await desk.claim("moves", { ...kube, ...withAny });
    const immutable = await faultOf(desk.apply(documentOf("moves", { route: "*" })));
    expect(immutable).toMatchObject({ code: "FAILED_PRECONDITION", reason: "IMMUTABLE" });
    expect(immutable.message).toContain("lacks service");
    await desk.apply(toCloud); // Where they run may change while it is held.
    await desk.release("moves", token);
    await desk.apply(documentOf("moves", { route: "*" }));
    await desk.report({ ...kube, controllers: [] });
    expect((await faultOf(desk.apply(documentOf("kube", { volume: "*" })))).message).toContain("primary lock");
  });
});

describe("the lock of a configuration", () => {
  it("goes only to a release that the configuration in force lets, which is decided where grants are", async () => {
    const desk = new MigrationDesk(deployment, "locks");
    const ranged = `apiVersion: tenure.dev/v1\nkind: LeaderMigrationConfiguration\nleaderName: moves\ncontrollerLeaders:\n- {name: route, component: kube, versionRange: ">=1.21.0 <1.22.0"}\n`;
    await desk.apply(ranged);
    const configurations = [meaningOf(ranged)];
    expect((await faultOf(desk.claim("moves", { ...cloud, configurations }))).reason).toBe("NOT_ELIGIBLE");
    expect((await faultOf(desk.claim("moves", { ...kube, version: "1.22.0", configurations }))).reason).toBe(
      "NOT_ELIGIBLE",
    );
    expect((await faultOf(desk.claim("moves", { ...kube, ...withAny }))).reason).toBe("CONFIGURATION_DISAGREES");
    expect((await faultOf(desk.claim("moves", kube))).reason).toBe("CONFIGURATION_DISAGREES");
    const token = await desk.claim("moves", { ...kube, configurations });
    expect(token).toBeGreaterThan(0n);
    // Across releases another component may hold it; who holds it now prevents that until it goes.
    await desk.apply(documentOf("moves", { route: "cloud" }));
    const next = { ...cloud, configurations: [meaningOf(documentOf("moves", { route: "cloud" }))] };
    expect((await faultOf(desk.claim("moves", next))).reason).toBe("LEASE_HELD");
    await desk.release("moves", token);
    expect(await desk.claim("moves", next)).toBeGreaterThan(token);
  });
});

describe("participants", () => {
  it("that disagree are told, with both sides' versions; the one that does not match what is in force is refused", async () => {
    const desk = new MigrationDesk(deployment, "disagree");
    await desk.apply(any);
    const alone = await desk.report(kube);
    // Nobody else would run them: enabling on a running fleet leaves no gap.
    expect(alone.verdicts.map(({ controller, refused }) => [controller, refused])).toEqual([
      ["route", false],
      ["service", false],
    ]);
    const right = await desk.report({ ...cloud, ...withAny });
    expect(right.verdicts).toMatchObject([
      { controller: "route", placement: ControllerPlacement.MIGRATED, lease: desk.lease("moves"), refused: false },
      { controller: "service", placement: ControllerPlacement.MIGRATED, lease: desk.lease("moves"), refused: false },
    ]);
    const wrong = await desk.report(kube);
    expect(wrong.verdicts.map(({ lease, refused }) => ({ lease, refused }))).toEqual([
      { lease: undefined, refused: true },
      { lease: undefined, refused: true },
    ]);
    expect(wrong.verdicts[0]?.message).toContain("cloud 1.22.0 (cloud-1) runs it under disagree/moves");
    const alarms = [
      "DISAGREEMENT | route | cloud 1.22.0 | kube 1.21.0",
      "DISAGREEMENT | service | cloud 1.22.0 | kube 1.21.0",
    ];
    expect(wrong.alarms.map(shortAlarm)).toEqual(alarms);
    expect(wrong.configurations.map(({ name }) => name)).toEqual(["moves"]);
    const { alarms: shown, participants } = await desk.status("moves");
    expect(shown.map(shortAlarm)).toEqual(alarms);
    expect(participants.map(({ instance }) => instance)).toEqual(["cloud-1", "kube-1"]);
    expect((await desk.report({ ...kube, ...withAny })).alarms).toEqual([]);
  });

  it("that leave, and those that fall silent, do not count; a controller without a runner is an alarm", async () => {
    const desk = new MigrationDesk(deployment, "leaving");
    expect((await desk.apply(any)).alarms.map(shortAlarm)).toEqual(["ORPHANED | route", "ORPHANED | service"]);
    const silent = { ...kube, ...withAny, controllers: ["service"] };
    await desk.report(silent);
    expect((await desk.report({ ...cloud, ...withAny })).alarms).toEqual([]);
    await desk.report({ ...cloud, ...withAny }, { leaving: true });
    expect((await desk.status("moves")).alarms.map(shortAlarm)).toEqual(["ORPHANED | route"]);
    const isGone = async () => (await desk.status("moves")).participants.length === 0;
    await waitFor(isGone, { timeoutMs: 60_000, intervalMs: 500 });
    expect((await desk.status("moves")).alarms.map(shortAlarm)).toEqual(["ORPHANED | route", "ORPHANED | service"]);
    await desk.report(silent); // It comes back as if nothing had been.
    expect((await desk.status("moves")).alarms.map(shortAlarm)).toEqual(["ORPHANED | route"]);
  });

  it("are only those that reported: a lease that someone else wrote in their place counts for nothing", async () => {
    const desk = new MigrationDesk(deployment, "junk");
    await desk.apply(any);
    const lease = { namespace: "tenure-system", name: "migration-participant:junk" };
    const spec = { annotations: { "tenure/migration-participant": "junk" } };
    await deployment.leases.acquire(LeaseServiceAcquireRequest.fromPartial({ claims: [{ lease, spec }] }));
    expect((await desk.status("moves")).participants).toEqual([]);
  });

  it("with more than two locks are warned of, and malformed ones are refused with every rule", async () => {
    const desk = new MigrationDesk(deployment, "many");
    const configurations = ["a", "b", "c"].map((name) => meaningOf(documentOf(name, { [name]: "*" })));
    const { alarms } = await desk.report({ ...kube, controllers: ["a", "b", "c"], configurations });
    expect(alarms.map(shortAlarm)).toEqual(["TOO_MANY_LOCKS | kube 1.21.0"]);
    const broken = { controllers: [{ name: "Route" }], configurations: ["x"] };
    const request = MigrationServiceReportRequest.fromPartial({ participant: broken });
    const fault = await faultOf(deployment.migrations.report(request));
    expect(fault.details.violations?.map(({ field }) => field)).toEqual([
      "participant.instance",
      "participant.participant.component",
      "participant.participant.version",
      "participant.primary",
      "participant.configuration_digests",
      "participant.controllers[0].name",
      "participant.controllers[0].placement",
      "participant.controllers[0].lease",
    ]);
  });
});

describe("a stream of a stock gRPC client", () => {
  it("takes part while it is open, and is told what changes for it", async () => {
    const desk = new MigrationDesk(deployment, "stream");
    await desk.apply(any);
    using stream = new JoinStream(deployment.grpc());
    stream.send({ participant: desk.participant(kube) });
    const verdictsAre = (isRefused: boolean) =>
      waitFor(() => stream.answers.at(-1)?.verdicts.every(({ refused }) => refused === isRefused), {
        timeoutMs: 60_000,
      });
    await verdictsAre(false);
    expect(stream.answers.at(-1)?.alarms.map(shortAlarm)).toEqual([
      "DISAGREEMENT | route | kube 1.21.0",
      "DISAGREEMENT | service | kube 1.21.0",
    ]);
    await desk.report({ ...cloud, ...withAny });
    await verdictsAre(true);
    stream.send({ leaving: true });
    const isGone = async () => (await desk.status("moves")).participants.every(({ instance }) => instance !== "kube-1");
    await waitFor(isGone, { timeoutMs: 60_000 });
    using nameless = new JoinStream(deployment.grpc());
    nameless.send({});
    await waitFor(() => nameless.error !== undefined, { timeoutMs: 60_000 });
    expect(nameless.error?.details).toContain("participant is required in the first message");
  });
});

describe("status", () => {
  it("[117] proves by the log that no controller ran twice, and says what is next and what a rollback does", async () => {
    const desk = new MigrationDesk(deployment, "status");
    await desk.apply(any);
    const [old, next] = [
      { ...kube, ...withAny },
      { ...cloud, ...withAny },
    ];
    await desk.report(old);
    await desk.report(next);
    const run = async (manager: Manager) => ({
      lock: await desk.claim("moves", manager),
      route: await desk.claim("controller:route", manager),
    });
    const first = await run(old);
    expect((await faultOf(run(next))).reason).toBe("LEASE_HELD");
    const before = await desk.status("moves");
    expect(before.lockHold).toMatchObject({ holder: "kube-1", token: first.lock });
    expect(before.nextSteps[0]).toEqual({
      action: "cloud 1.22.0 (cloud-1) takes the lock and runs route, service",
      blockedBy: [`kube 1.21.0 (kube-1) holds the lock with token ${first.lock}`],
    });
    await desk.release("controller:route", first.route);
    await desk.release("moves", first.lock);
    const second = await run(next);
    const { controllers: shown, handovers, rollbackSteps } = await desk.status("moves");
    const route = shown.find(({ controller }) => controller === "route");
    expect(route).toMatchObject({
      exclusive: true,
      eligibleComponents: ["*"],
      running: { instance: "cloud-1", component: "cloud", version: "1.22.0", token: second.route, toRevision: 0n },
      periods: [
        { instance: "kube-1", version: "1.21.0", token: first.route, endReason: TermEndReason.RELEASED },
        { instance: "cloud-1", token: second.route },
      ],
    });
    const [former, present] = route?.periods ?? [];
    expect(former?.toRevision).toBeLessThanOrEqual(present?.fromRevision ?? 0n);
    expect(handovers.map(({ holder, token }) => [holder, token])).toEqual([
      ["cloud-1", second.lock],
      ["kube-1", first.lock],
      ["kube-1", first.lock],
    ]);
    expect(rollbackSteps[2]?.action).toBe("kube 1.21.0 (kube-1) takes the lock and runs route, service");
  });
});

describe("a watch", () => {
  it("tells the present, then configurations, participants and alarms as they come and go", async () => {
    const desk = new MigrationDesk(deployment, "watched");
    const { configuration } = await desk.apply(any);
    const stop = new AbortController();
    const events: MigrationEvent[] = [];
    let isSynced = false;
    const options = { minRevision: configuration?.revision ?? 0n };
    const request = MigrationServiceWatchRequest.fromPartial({ namespace: "watched", options });
    const watching = (async () => {
      for await (const response of deployment.migrations.watch(request, { signal: stop.signal, deadlineMs: 120_000 })) {
        events.push(...response.events);
        isSynced ||= response.position?.mark?.kind === WatchMarkKind.SYNCED;
      }
    })().catch(() => undefined);
    const told = () => events.map(shortEvent);
    await waitFor(() => isSynced, { timeoutMs: 60_000 });
    expect(told()).toEqual(["PRESENT moves", "PRESENT ORPHANED | route", "PRESENT ORPHANED | service"]);
    events.length = 0;
    await desk.report({ ...kube, ...withAny });
    await waitFor(() => events.length >= 3, { timeoutMs: 60_000 });
    expect(told()).toEqual(["ADDED kube-1", "REMOVED ORPHANED | route", "REMOVED ORPHANED | service"]);
    events.length = 0;
    await desk.report({ ...kube, ...withAny }, { leaving: true });
    await deployment.migrations.delete(
      MigrationServiceDeleteRequest.fromPartial({ namespace: "watched", name: "moves" }),
    );
    await waitFor(() => told().includes("REMOVED moves"), { timeoutMs: 60_000 });
    expect(told()).toContain("REMOVED kube-1");
    stop.abort();
    await watching;
  });
});

describe("replicas", () => {
  it("know the same, also when one has died", async () => {
    const desk = new MigrationDesk(deployment, "replicas");
    await desk.apply(any);
    await desk.report({ ...kube, ...withAny });
    await deployment.kill("migration-1");
    const { alarms, participants } = await desk.status("moves");
    expect({ alarms, instances: participants.map(({ instance }) => instance) }).toEqual({
      alarms: [],
      instances: ["kube-1"],
    });
    await desk.report({ ...kube, ...withAny });
  });
});

function shortEvent({ kind, subject }: MigrationEvent): string {
  const what = nameIn(ChangeKind, kind);
  if (subject?.$case === "configuration") return `${what} ${subject.value.name}`;
  if (subject?.$case === "participant") return `${what} ${subject.value.instance}`;
  return `${what} ${subject === undefined ? "" : shortAlarm(subject.value)}`;
}
