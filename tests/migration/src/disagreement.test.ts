import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CandidateServiceListRequest,
  ElectionServiceSetStrategyRequest,
  LeaseServiceGetRequest,
  LeaseServiceRevokeRequest,
  MigrationAlarmKind,
  MigrationServiceApplyRequest,
  MigrationServiceStatusRequest,
  StrategyKind,
} from "@tenure/contracts";
import { lossExitCode } from "@tenure/sdk";
import { type Deployment, startDeployment, tempDirectory, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ControlPlane, type Manager, type Release } from "./control-plane.ts";
import type { Line, Period } from "./journal.ts";

let deployment: Deployment;
let folder: Awaited<ReturnType<typeof tempDirectory>>;

beforeAll(async () => {
  const services = { "lease-store": 1, gateway: 1, migration: 1, election: 1 };
  deployment = await startDeployment({ services });
  folder = await tempDirectory();
}, 180_000);

afterAll(async () => {
  await deployment?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
}, 60_000);

const planeIn = (namespace: string) =>
  new ControlPlane({ endpoint: deployment.grpc(), namespace, leaseDurationMs: 10_000 });

const documentOf = (lock: string, component: string) => `kind: LeaderMigrationConfiguration
apiVersion: controllermanager.config.k8s.io/v1
leaderName: ${lock}
controllerLeaders:
  - name: route
    component: "${component}"
`;

/** The flags of a manager with a configuration of its own. */
function withDocument(lock: string, component: string): readonly string[] {
  const path = join(folder.path, `${lock}-${component === "*" ? "any" : component}.yaml`);
  writeFileSync(path, documentOf(lock, component));
  return ["--enable-leader-migration", `--leader-migration-config=${path}`];
}

const old: Release = { component: "kcm", version: "1.21.0", controllers: ["deployment", "route"] };
const cloud: Release = { component: "ccm", version: "1.22.0", controllers: ["volume", "route"] };

const told = (manager: Manager, describe: string, isIt: (line: Line) => boolean) =>
  waitFor(() => manager.lines.find(isIt), { timeoutMs: 60_000, describe: `${manager.runner} to be told ${describe}` });

/** Waits until a manager has heard an alarm about `route` that names both sides with their versions. */
const hears = (manager: Manager, kind: MigrationAlarmKind) =>
  told(manager, `of alarm ${kind} with both sides`, ({ alarm }) => {
    const message = alarm?.controller === "route" && alarm.kind === kind ? alarm.message : "";
    return message.includes("kcm 1.21.0") && message.includes("ccm 1.22.0");
  });

/** Each with those that follow it and are the same left out: a busy machine may lose a lease and win it again. */
const inTurn = (names: readonly string[]) => names.filter((name, place) => name !== names[place - 1]);
const componentsIn = (periods: readonly Period[]) => inTurn(periods.map(({ runner }) => runner.slice(0, 3)));

const runsIn = (component: string) => (runner: string) => runner.startsWith(component);

describe("managers whose configurations disagree", () => {
  it("migration is off in one: it goes on, the other is refused; what is applied decides, and it never runs twice", async () => {
    await using plane = planeIn("mismatched");
    const first = await plane.start("node-1", old);
    await plane.runs(old.controllers, runsIn("kcm"));
    const second = await plane.start("node-2", { ...cloud, flags: withDocument("cloud", "*") });
    const isRefused = (line: Line) => line.kind === "controller-refused" && line.controller === "route";
    expect((await told(second, "of a refusal", isRefused)).message).toContain("kcm 1.21.0");
    for (const manager of [first, second]) await hears(manager, MigrationAlarmKind.DISAGREEMENT);
    await plane.runs(["volume"], runsIn("ccm"));
    await plane.runs(["route"], runsIn("kcm"));
    const request = { namespace: "mismatched", document: documentOf("cloud", "*") };
    const { alarms } = await deployment.migrations.apply(MigrationServiceApplyRequest.fromPartial(request));
    expect(alarms.map(({ kind }) => kind)).toEqual([MigrationAlarmKind.DISAGREEMENT]);
    expect((await told(first, "of a refusal", isRefused)).message).toContain("ccm 1.22.0");
    await plane.runs(["route"], (runner, lock) => runner.startsWith("ccm") && lock === "cloud");
    await plane.runs(["deployment"], runsIn("kcm"));
    expect(plane.journal.overlaps("route")).toEqual([]);
    expect(componentsIn(plane.journal.periods("route"))).toEqual(["kcm", "ccm"]);
    const about = MigrationServiceStatusRequest.fromPartial({ namespace: "mismatched", name: "cloud" });
    const route = await waitFor(async () => {
      const { controllers } = await deployment.migrations.status(about);
      return controllers.find(({ running }) => running?.component === "ccm");
    });
    expect(route.exclusive).toBe(true);
    expect(inTurn(route.periods.map(({ component, version }) => `${component} ${version}`))).toEqual([
      "kcm 1.21.0",
      "ccm 1.22.0",
    ]);
  }, 180_000);

  it("[118] they name different locks: an overlap, and one of them runs it; the loss of its lock ends it with a code of its own", async () => {
    await using plane = planeIn("overlapping");
    const first = await plane.start("node-1", { ...old, flags: [...withDocument("one", "*"), "--exit-on-loss"] });
    await plane.runs(old.controllers, runsIn("kcm"));
    const second = await plane.start("node-2", { ...cloud, flags: withDocument("two", "*") });
    for (const manager of [first, second]) await hears(manager, MigrationAlarmKind.OVERLAP);
    await plane.runs(["volume"], runsIn("ccm"));
    await told(second, "that it holds its lock", ({ kind, lock }) => kind === "lock-held" && lock?.name === "two");
    expect(componentsIn(plane.journal.periods("route"))).toEqual(["kcm"]);
    const lease = { namespace: "overlapping", name: "one" };
    const { lease: held } = await deployment.leases.get(LeaseServiceGetRequest.fromPartial({ lease }));
    const note = { reason: "maintenance" };
    const revocation = { lease, expectedRevision: held?.revision ?? 0n, note };
    await deployment.leases.revoke(LeaseServiceRevokeRequest.fromPartial(revocation));
    expect((await first.process.waitForExit({ timeoutMs: 60_000 })).code).toBe(lossExitCode);
    expect(first.process.output.tail()).toMatch(/lock overlapping.\w+ \(token \d+\) was lost/);
    expect(plane.journal.overlaps("route")).toEqual([]);
  }, 180_000);

  it("each leaves it to a third: it is orphaned, and runs nowhere", async () => {
    await using plane = planeIn("orphaning");
    const flags = withDocument("cloud", "another-manager");
    const first = await plane.start("node-1", { ...old, flags });
    const second = await plane.start("node-2", { ...cloud, flags });
    for (const manager of [first, second]) await hears(manager, MigrationAlarmKind.ORPHANED);
    await plane.runs(["deployment", "volume"], () => true);
    expect(plane.journal.periods("route")).toEqual([]);
  }, 180_000);

  it("[119] in coordinated mode both locks have candidates: the lock goes to the older release, then by another strategy to the newer, and the rest goes on", async () => {
    await using plane = planeIn("coordinated");
    const flags = [...withDocument("cloud", "*"), "--coordinated"];
    const request = { namespace: "coordinated", document: documentOf("cloud", "*") };
    await deployment.migrations.apply(MigrationServiceApplyRequest.fromPartial(request));
    await plane.start("node-2", { ...cloud, flags });
    await plane.runs(cloud.controllers, runsIn("ccm"));
    await plane.start("node-1", { ...old, flags });
    await plane.runs(old.controllers, runsIn("kcm"));
    await plane.runs(["volume"], runsIn("ccm"));
    const lease = { namespace: "coordinated", name: "cloud" };
    const strategy = { kind: StrategyKind.NEWEST_COMPATIBILITY_VERSION };
    const change = { lease, strategy, note: { reason: "upgrade" } };
    await deployment.elections.setStrategy(ElectionServiceSetStrategyRequest.fromPartial(change));
    await plane.runs(["route"], runsIn("ccm"));
    await plane.runs(["deployment"], runsIn("kcm"));
    expect(plane.journal.overlaps("route")).toEqual([]);
    expect(componentsIn(plane.journal.periods("volume"))).toEqual(["ccm"]);
    expect(componentsIn(plane.journal.periods("deployment"))).toEqual(["kcm"]);
    const { candidates } = await deployment.candidates.list(
      CandidateServiceListRequest.fromPartial({ selector: { lease } }),
    );
    expect(candidates.map(({ key }) => key?.name).sort()).toEqual(["ccm-1.22.0-node-2", "kcm-1.21.0-node-1"]);
  }, 180_000);

  it("without the migration service the controller's own lease decides, and hands over", async () => {
    await using plane = planeIn("alone");
    await deployment.kill("migration-1");
    const first = await plane.start("node-1", old);
    await plane.runs(old.controllers, runsIn("kcm"));
    const second = await plane.start("node-2", { ...cloud, flags: withDocument("cloud", "*") });
    await plane.runs(["volume"], runsIn("ccm"));
    await told(second, "that it holds its lock", ({ kind, lock }) => kind === "lock-held" && lock?.name === "cloud");
    expect(second.lines.map(({ kind }) => kind)).toContain("join-failed");
    await plane.stop(first);
    await plane.runs(["route"], (runner, lock) => runner.startsWith("ccm") && lock === "cloud");
    expect(plane.journal.overlaps("route")).toEqual([]);
  }, 180_000);
});
