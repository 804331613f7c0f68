import type { SimulationArguments } from "./arguments.ts";
import { count, describeFailure, newTally, type Tally } from "./report.ts";
import { run, scheduleOf } from "./run.ts";
import { keep as keepIncidents, shrink } from "./shrink.ts";

/** How many failing seeds are shrunk and told in full. */
const toldFailures = 5;

/** Runs seeds one after the other and tells of failures as they come; gives the sums. */
export async function simulate(
  { from, keep, seeds }: Omit<SimulationArguments, "jobs">,
  tell: (line: string) => void,
): Promise<Tally> {
  const tally = newTally();
  for (let seed = from; seed < from + seeds; seed += 1) {
    const whole = scheduleOf(seed);
    const schedule = keep === undefined ? whole : { ...whole, incidents: keepIncidents(whole.incidents, keep) };
    const result = await run(schedule);
    count(tally, result);
    if (result.violation === undefined) continue;
    if (tally.violations > toldFailures) tell(`seed ${seed} breaks ${result.violation.invariant}`);
    else tell(describeFailure(keep === undefined ? await shrink(result) : { result, kept: keep }));
  }
  return tally;
}
