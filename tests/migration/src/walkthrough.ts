import type { ControlPlane, Release } from "./control-plane.ts";

/** The controllers of the proposal's walkthrough, which move. */
export const cloudControllers = ["route", "service", "cloud-node-lifecycle"];
/** One that stays. */
const others = ["deployment"];
export const allControllers = [...others, ...cloudControllers];
export const nodes = ["node-1", "node-2", "node-3"];

const migration = ["--enable-leader-migration"];
const old: Release = { component: "kube-controller-manager", version: "1.21.0", controllers: allControllers };
const oldEnabled: Release = { ...old, flags: migration };
const manager: Release = { component: "kube-controller-manager", version: "1.22.0", controllers: others };
const cloud: Release = { component: "cloud-controller-manager", version: "1.22.0", controllers: cloudControllers };
const cloudEnabled: Release = { ...cloud, flags: migration };

/** What happens between two steps; nothing in the plain walkthrough. */
export type Disturb = (plane: ControlPlane) => Promise<void>;

/** What all nodes have in the end of a step, and where the controllers of the cloud must run then. */
interface Stage {
  readonly releases: readonly Release[];
  readonly runner: RegExp;
  readonly lock: string;
}

const primaryOf = ({ component }: Release) => component;
/** The migration lock, which the default configuration names. */
export const lock = "cloud-provider-extraction-migration";
const before: Stage = { releases: [old], runner: /^kube-controller-manager 1\.21\.0/, lock: primaryOf(old) };
const enabled: Stage = { releases: [oldEnabled], runner: before.runner, lock };
const upgraded: Stage = { releases: [manager, cloudEnabled], runner: /^cloud-controller-manager 1\.22\.0/, lock };
const after: Stage = { releases: [manager, cloud], runner: upgraded.runner, lock: primaryOf(cloud) };

/** Three nodes with the old manager. */
export async function begin(plane: ControlPlane): Promise<void> {
  await Promise.all(nodes.map((node) => plane.deploy(node, before.releases)));
  await reached(plane, before);
}

/** Enable migration, upgrade, disable it: each node by node. */
export async function rollOut(plane: ControlPlane, disturb: Disturb = async () => {}): Promise<void> {
  for (const stage of [enabled, upgraded, after]) await roll(plane, stage, disturb);
}

/** The same steps back. */
export async function rollBack(plane: ControlPlane, disturb: Disturb = async () => {}): Promise<void> {
  for (const stage of [upgraded, enabled, before]) await roll(plane, stage, disturb);
}

/** The same steps as the roll-out, each begun on the node that runs what moves, taken back there, and then made. */
export async function hesitate(plane: ControlPlane): Promise<void> {
  let from = before;
  for (const stage of [enabled, upgraded, after]) {
    const node = plane.journal.running("route")?.runner.split(" on ")[1] ?? "";
    for (const { releases } of [stage, from]) {
      await plane.deploy(node, releases);
      await plane.runs(allControllers, () => true);
    }
    await reached(plane, from);
    await roll(plane, stage, async () => {});
    from = stage;
  }
}

async function roll(plane: ControlPlane, stage: Stage, disturb: Disturb): Promise<void> {
  for (const node of nodes) {
    await plane.deploy(node, stage.releases);
    await plane.runs(allControllers, () => true);
    await disturb(plane);
    await plane.runs(allControllers, () => true);
  }
  await reached(plane, stage);
}

async function reached(plane: ControlPlane, stage: Stage): Promise<void> {
  await plane.runs(cloudControllers, (runner, held) => stage.runner.test(runner) && held === stage.lock);
  await plane.runs(others, (runner) => runner.startsWith("kube-controller-manager"));
}
