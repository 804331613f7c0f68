import { ControllerPlacement, LeaseServiceAcquireRequest, MigrationServiceReportRequest } from "@tenure/contracts";
import { type Deployment, waitFor } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { JoinStream } from "./join-stream.ts";
import { documentOf, faultOf, MigrationDesk, meaningOf, shortAlarm } from "./migration-desk.ts";
import { any, cloud, kube, withAny } from "./two-managers.ts";

/** What the migration service does with who takes part. */
export function describeParticipants(deployment: () => Deployment): void {
  describe("participants", () => {
    it("that disagree are told, with both sides' versions; the one that does not match what is in force is refused", async () => {
      const desk = new MigrationDesk(deployment(), "disagree");
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

    it("that leave do not count, by their own word only; a controller without a runner is an alarm", async () => {
      const desk = new MigrationDesk(deployment(), "leaving");
      expect((await desk.apply(any)).alarms.map(shortAlarm)).toEqual(["ORPHANED | route", "ORPHANED | service"]);
      expect((await desk.report({ ...cloud, ...withAny })).alarms).toEqual([]);
      const participant = desk.participant({ ...cloud, ...withAny });
      const stranger = MigrationServiceReportRequest.fromPartial({ participant, leaving: true });
      const fault = await faultOf(deployment().migrations.report(stranger, { principal: "stranger" }));
      expect(fault).toMatchObject({ code: "PERMISSION_DENIED", reason: "PRINCIPAL_MISMATCH" });
      expect((await desk.status("moves")).alarms).toEqual([]);
      await desk.report({ ...cloud, ...withAny }, { leaving: true });
      expect((await desk.status("moves")).alarms.map(shortAlarm)).toEqual(["ORPHANED | route", "ORPHANED | service"]);
    });

    it("that leave right after they have come are gone, whichever replica is asked", async () => {
      const desk = new MigrationDesk(deployment(), "short");
      await desk.apply(any);
      for (let round = 0; round < 200; round += 1) {
        const short = { ...cloud, ...withAny, instance: `short-${round}` };
        await desk.report(short);
        await desk.report(short, { leaving: true });
      }
      expect((await desk.status("moves")).participants).toEqual([]);
    });

    it("are not refused because of who cannot run a controller, as a standby cannot", async () => {
      const desk = new MigrationDesk(deployment(), "standby");
      const route = { controllers: ["route"] };
      const holder = { ...cloud, ...route, instance: "cloud-2" };
      await desk.report({ ...cloud, ...route });
      await desk.report(holder);
      const isRefused = async () => (await desk.report({ ...kube, ...route })).verdicts.map(({ refused }) => refused);
      expect(await isRefused()).toEqual([true]);
      await desk.report(holder, { leaving: true });
      await desk.claim("cloud", holder);
      await desk.report(holder); // It joins after kube, and holds the primary lock of its component.
      expect(await isRefused()).toEqual([false]);
      expect((await desk.report(holder)).verdicts.map(({ refused }) => refused)).toEqual([true]);
    });

    it("are only those that reported: a lease that someone else wrote in their place counts for nothing", async () => {
      const desk = new MigrationDesk(deployment(), "junk");
      await desk.apply(any);
      const lease = { namespace: "tenure-system", name: "migration-participant:junk" };
      const spec = { annotations: { "tenure/migration-participant": "junk" } };
      await deployment().leases.acquire(LeaseServiceAcquireRequest.fromPartial({ claims: [{ lease, spec }] }));
      expect((await desk.status("moves")).participants).toEqual([]);
    });

    it("with more than two locks are warned of, and malformed ones are refused with every rule", async () => {
      const desk = new MigrationDesk(deployment(), "many");
      const configurations = ["a", "b", "c"].map((name) => meaningOf(documentOf(name, { [name]: "*" })));
      const { alarms } = await desk.report({ ...kube, controllers: ["a", "b", "c"], configurations });
      expect(alarms.map(shortAlarm)).toEqual(["TOO_MANY_LOCKS | kube 1.21.0"]);
      const broken = { controllers: [{ name: "Route" }], configurations: ["x"] };
      const request = MigrationServiceReportRequest.fromPartial({ participant: broken });
      const fault = await faultOf(deployment().migrations.report(request));
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
      const desk = new MigrationDesk(deployment(), "stream");
      await desk.apply(any);
      using stream = new JoinStream(deployment().grpc());
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
      const isGone = async () =>
        (await desk.status("moves")).participants.every(({ instance }) => instance !== "kube-1");
      await waitFor(isGone, { timeoutMs: 60_000 });
      using nameless = new JoinStream(deployment().grpc());
      nameless.send({});
      await waitFor(() => nameless.error !== undefined, { timeoutMs: 60_000 });
      expect(nameless.error?.details).toContain("participant is required in the first message");
    });
  });
}
