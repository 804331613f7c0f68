import {
  ChangeKind,
  type MigrationEvent,
  MigrationServiceDeleteRequest,
  MigrationServiceWatchRequest,
  TermEndReason,
  WatchMarkKind,
} from "@tenure/contracts";
import { type Deployment, waitFor } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { faultOf, type Manager, MigrationDesk, nameIn, shortAlarm } from "./migration-desk.ts";
import { any, cloud, kube, withAny } from "./two-managers.ts";

/** What the migration service shows. */
export function describeViews(deployment: () => Deployment): void {
  describe("status", () => {
    it("[117] proves by the log that no controller ran twice, and says what is next and what a rollback does", async () => {
      const desk = new MigrationDesk(deployment(), "status");
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
      const desk = new MigrationDesk(deployment(), "watched");
      const { configuration } = await desk.apply(any);
      const stop = new AbortController();
      const events: MigrationEvent[] = [];
      let isSynced = false;
      const options = { minRevision: configuration?.revision ?? 0n };
      const request = MigrationServiceWatchRequest.fromPartial({ namespace: "watched", options });
      const watching = (async () => {
        for await (const response of deployment().migrations.watch(request, {
          signal: stop.signal,
          deadlineMs: 120_000,
        })) {
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
      await deployment().migrations.delete(
        MigrationServiceDeleteRequest.fromPartial({ namespace: "watched", name: "moves" }),
      );
      await waitFor(() => told().includes("REMOVED moves"), { timeoutMs: 60_000 });
      expect(told()).toContain("REMOVED kube-1");
      stop.abort();
      await watching;
    });
  });
}

function shortEvent({ kind, subject }: MigrationEvent): string {
  const what = nameIn(ChangeKind, kind);
  if (subject?.$case === "configuration") return `${what} ${subject.value.name}`;
  if (subject?.$case === "participant") return `${what} ${subject.value.instance}`;
  return `${what} ${subject === undefined ? "" : shortAlarm(subject.value)}`;
}
