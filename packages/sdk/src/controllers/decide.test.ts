import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Assignment } from "./assignment.ts";
import { decide, type ManagerView } from "./decide.ts";

const primary = { namespace: "kube-system", name: "kcm" };
const cloud = { namespace: "kube-system", name: "cloud" };
const net = { namespace: "kube-system", name: "net" };
const assignments: readonly Assignment[] = [
  { controller: "deployment", placement: "nonMigrated", lock: primary },
  { controller: "route", placement: "migrated", lock: cloud },
  { controller: "service", placement: "migrated", lock: cloud },
  { controller: "ipam", placement: "migrated", lock: net },
  { controller: "node", placement: "unowned", lock: undefined },
];
const all = ["kube-system/kcm", "kube-system/cloud", "kube-system/net"];

const view = (held: readonly string[], other: Partial<ManagerView> = {}): ManagerView => ({
  isEnding: false,
  isJudged: true,
  refused: new Set(),
  held: new Set(held),
  ...other,
});

describe("what a controller manager should do", () => {
  it.each<[string, ManagerView, readonly string[], readonly string[]]>([
    ["[115] nothing is held: only the primary is stood for", view([]), [all[0] ?? ""], []],
    ["[115] a migration lock without the primary is given up", view(all.slice(1)), [all[0] ?? ""], []],
    ["[116] the primary alone runs the non-migrated", view(all.slice(0, 1)), all, ["deployment"]],
    ["[116] one migration lock runs its own as well", view(all.slice(0, 2)), all, ["deployment", "route", "service"]],
    ["[116] all locks run all but the unowned", view(all), all, ["deployment", "route", "service", "ipam"]],
    ["[118] a lock was lost: everything ends", view(all, { isEnding: true }), [], []],
    [
      "a refused controller does not run",
      view(all, { refused: new Set(["route"]) }),
      all,
      ["deployment", "service", "ipam"],
    ],
    ["nothing starts before the migration service was asked", view(all, { isJudged: false }), all, []],
  ])("%s", (_title, seen, locks, controllers) => {
    const decision = decide(primary, assignments, seen);
    expect([...decision.locks.keys()]).toEqual(locks);
    expect([...decision.controllers.keys()]).toEqual(controllers);
  });

  it("[109] [116] runs a controller only under the lock of its placement, and only while that and the primary are held", () => {
    fc.assert(
      fc.property(
        fc.subarray(all),
        fc.subarray(assignments.map(({ controller }) => controller)),
        fc.boolean(),
        fc.boolean(),
        (held, refused, isEnding, isJudged) => {
          const seen = view(held, { isEnding, isJudged, refused: new Set(refused) });
          for (const [controller, lock] of decide(primary, assignments, seen).controllers) {
            expect(assignments.find((one) => one.controller === controller)?.lock).toBe(lock);
            expect(held).toContain(`${lock.namespace}/${lock.name}`);
            expect(held).toContain(all[0]);
            expect(refused).not.toContain(controller);
            expect(isEnding).toBe(false);
            expect(isJudged).toBe(true);
          }
        },
      ),
    );
  });
});
