import type { Random } from "@tenure/kernel";
import { allControllers, type Disturb } from "./walkthrough.ts";

/**
 * Now and then ends a manager with -9, which is started again at once, or pauses one, mostly one that runs a controller:
 * for up to one and a half lease durations if another of its release can take over meanwhile, and for one if it is the
 * only one, because nothing can shorten that pause for its controllers.
 */
export function disturbing(random: Random): Disturb {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random.next() * items.length)];
  return async (plane) => {
    if (random.next() < 0.6) return;
    const runner = plane.journal.running(pick(allControllers) ?? "")?.runner;
    const isRunning = random.next() < 0.7;
    const victim = plane.managers.find((one) => isRunning && one.runner === runner) ?? pick(plane.managers);
    if (victim === undefined) return;
    if (random.next() < 0.5) {
      await plane.kill(victim);
      await plane.start(victim.node, victim.release);
    } else {
      const isAlone = plane.managers.filter(({ release }) => release === victim.release).length === 1;
      await plane.pause(victim, random.next() * (isAlone ? 1 : 1.5) * plane.options.leaseDurationMs);
    }
  };
}
