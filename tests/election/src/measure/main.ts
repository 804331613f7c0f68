import { measureCrashes } from "./crash.ts";
import { measureHandOvers } from "./hand-over.ts";
import { measureMany } from "./many.ts";
import { say } from "./report.ts";

// How long elections take, everything on this machine: node dist/measure/main.js [what] [numbers…]
const [what = "all", ...given] = process.argv.slice(2);
const [first, second] = given.map(Number);
const measures: Readonly<Record<string, () => Promise<void>>> = {
  "hand-overs": () => measureHandOvers(first ?? 100, second ?? 20),
  crashes: () => measureCrashes(first ?? 5),
  many: () => measureMany(first ?? 10_000, second ?? 60),
};
const chosen = what === "all" ? Object.values(measures) : [measures[what]];
for (const measure of chosen) {
  if (measure === undefined) say(`measures: all, ${Object.keys(measures).join(", ")}`);
  await measure?.();
}
