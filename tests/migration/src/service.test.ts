import { type Deployment, startDeployment, waitFor } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MigrationDesk, shortAlarm } from "./migration-desk.ts";
import { describeDocuments } from "./service-documents.ts";
import { describeParticipants } from "./service-participants.ts";
import { describeViews } from "./service-views.ts";
import { any, kube, withAny } from "./two-managers.ts";

let deployment: Deployment;
const silent = { ...kube, ...withAny, controllers: ["service"] };

beforeAll(async () => {
  deployment = await startDeployment({
    services: { "lease-store": 1, gateway: 1, migration: 2 },
    // Long enough that who reports once counts to the end of its test on a busy machine.
    args: { migration: ["--participant-duration=30s"] },
    partitions: 2,
    isSecured: true,
  });
  const desk = new MigrationDesk(deployment, "silent");
  await desk.apply(any);
  await desk.report(silent); // Not heard of again until the last test.
}, 180_000);
afterAll(() => deployment?.[Symbol.asyncDispose](), 60_000);

describeDocuments(() => deployment);
describeParticipants(() => deployment);
describeViews(() => deployment);

describe("replicas", () => {
  it("know the same, also when one has died", async () => {
    const desk = new MigrationDesk(deployment, "replicas");
    await desk.apply(any);
    await desk.report({ ...kube, ...withAny });
    await deployment.kill("migration-1");
    // A call that went to the one that died is not answered.
    const { alarms, participants } = await waitFor(() => desk.status("moves").catch(() => undefined), {
      timeoutMs: 60_000,
    });
    expect({ alarms, instances: participants.map(({ instance }) => instance) }).toEqual({
      alarms: [],
      instances: ["kube-1"],
    });
    await waitFor(() => desk.report({ ...kube, ...withAny }).catch(() => undefined), { timeoutMs: 60_000 });
  }, 180_000);
});

describe("a participant that falls silent", () => {
  it("does not count any more, and comes back as if nothing had been", async () => {
    const desk = new MigrationDesk(deployment, "silent");
    const isGone = async () => (await desk.status("moves")).participants.length === 0;
    await waitFor(isGone, { timeoutMs: 120_000, intervalMs: 1_000 });
    expect((await desk.status("moves")).alarms.map(shortAlarm)).toEqual(["ORPHANED | route", "ORPHANED | service"]);
    await desk.report(silent);
    expect((await desk.status("moves")).alarms.map(shortAlarm)).toEqual(["ORPHANED | route"]);
  }, 180_000);
});
