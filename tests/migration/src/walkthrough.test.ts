import { TermEndReason } from "@tenure/contracts";
import { seededRandom } from "@tenure/kernel";
import { type Deployment, promisedMs, startDeployment } from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ControlPlane } from "./control-plane.ts";
import { disturbing } from "./disturb.ts";
import { shown } from "./journal.ts";
import { documentOf, MigrationDesk } from "./migration-desk.ts";
import { allControllers, begin, cloudControllers, hesitate, lock, rollBack, rollOut } from "./walkthrough.ts";

/** Long enough that a busy machine loses no lease by itself. */
const leaseDurationMs = 10_000;
const isLong = process.env.TENURE_LONG === "1";
/** What a walkthrough may have without a runner; on a busy machine managers lose their locks also undisturbed. */
const promisedGapMs = () => promisedMs(leaseDurationMs + 1_000);

let deployment: Deployment;

beforeAll(async () => {
  deployment = await startDeployment({ services: { "lease-store": 1, gateway: 1, migration: 1 } });
}, 180_000);

afterAll(() => deployment?.[Symbol.asyncDispose](), 60_000);

const planeIn = (namespace: string, isUndisturbed: boolean) =>
  new ControlPlane({ endpoint: deployment.grpc(), namespace, leaseDurationMs, isUndisturbed });

/** By the log no controller ran twice, and each runner gave it back, if nobody lost a lock on a busy machine. */
async function judgeByLog(desk: MigrationDesk, { journal }: ControlPlane) {
  const { controllers } = await desk.status(lock);
  expect(controllers.map(({ controller, exclusive }) => [controller, exclusive])).toEqual(
    cloudControllers.map((controller) => [controller, true]),
  );
  const ended = controllers.flatMap(({ periods }) => periods.filter(({ toRevision }) => toRevision > 0n));
  expect(ended.length).toBeGreaterThan(0);
  if (!journal.isLost)
    expect(new Set(ended.map(({ endReason }) => endReason))).toEqual(new Set([TermEndReason.RELEASED]));
}

/** No two periods of a controller overlap, and none is without a runner for longer than a machine of its own promises. */
async function judge({ journal }: ControlPlane, boundMs: number, annotate: (text: string) => Promise<unknown>) {
  for (const controller of allControllers) {
    const gapMs = journal.longestGapMs(controller);
    const ran = journal.periods(controller).map(shown).join(", ");
    const lost = journal.isLost ? " (a lock was lost)" : "";
    await annotate(`${controller}: at most ${Math.round(gapMs)} ms without a runner${lost}; ${ran}`);
    expect(journal.overlaps(controller)).toEqual([]);
    expect(gapMs).toBeLessThanOrEqual(boundMs);
  }
}

describe("the proposal's walkthrough, with real processes", () => {
  let plane: ControlPlane;
  let desk: MigrationDesk;

  beforeAll(async () => {
    plane = planeIn("walkthrough", true);
    desk = new MigrationDesk(deployment, "walkthrough");
    await desk.apply(documentOf(lock, Object.fromEntries(cloudControllers.map((controller) => [controller, "*"]))));
    await begin(plane);
  }, 180_000);

  afterAll(() => plane?.[Symbol.asyncDispose](), 60_000);

  it("[116] [117] enable, upgrade node by node, disable: each controller moves and never runs twice", async ({
    annotate,
  }) => {
    const boundMs = promisedGapMs();
    await rollOut(plane);
    await judge(plane, boundMs, annotate);
    await judgeByLog(desk, plane);
  }, 300_000);

  it("[117] and back again, node by node", async ({ annotate }) => {
    const boundMs = promisedGapMs();
    await rollBack(plane);
    await judge(plane, boundMs, annotate);
    await judgeByLog(desk, plane);
    for (const controller of cloudControllers) {
      const releases = plane.journal.periods(controller).map(({ runner }) => runner.split(" on ")[0]);
      expect([...new Set(releases)]).toEqual(["kube-controller-manager 1.21.0", "cloud-controller-manager 1.22.0"]);
    }
  }, 300_000);
});

describe.runIf(isLong)("a rollout that hesitates", () => {
  it("[117] each step is begun on one node, taken back, and then made", async ({ annotate }) => {
    await using plane = planeIn("hesitating", true);
    const boundMs = promisedGapMs();
    await begin(plane);
    await hesitate(plane);
    await judge(plane, boundMs, annotate);
  }, 600_000);
});

describe.runIf(isLong)("the walkthrough with managers killed by -9 and paused", () => {
  const seeds = Array.from({ length: 20 }, (_, index) => index + 1);

  it.each(seeds)(
    "[117] there and back with seed %i",
    async (seed) => {
      await using plane = planeIn(`seed-${seed}`, false);
      const boundMs = promisedGapMs();
      const disturb = disturbing(seededRandom(seed));
      await begin(plane);
      await rollOut(plane, disturb);
      await rollBack(plane, disturb);
      const { kills, pauses } = plane;
      process.stdout.write(`seed ${seed}: ${kills} kills, ${pauses} pauses, at most ${boundMs} ms allowed\n`);
      await judge(plane, boundMs, async (text) => process.stdout.write(`seed ${seed}: ${text}\n`));
    },
    1_200_000,
  );
});
