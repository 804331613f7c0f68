import type { Carrier } from "./carriers.ts";
import { casesOf } from "./cases.ts";
import type { Sample } from "./samples.ts";
import type { Method } from "./schema.ts";
import { complaintAbout, refusalIn } from "./verdict.ts";
import type { World } from "./world.ts";

/**
 * Sends every bad request of a method, one after the other, and says what is wrong with the answers. One that was
 * accepted has changed the world, so the rest is about a new one.
 */
export async function tryAll(
  carrier: Carrier,
  method: Method,
  sample: Sample,
  world: World,
  another: (place: number) => Promise<World>,
): Promise<readonly string[]> {
  const complaints: string[] = [];
  let cases = casesOf(method, sample, world);
  for (let place = 0; place < cases.length; place += 1) {
    const bad = cases[place];
    if (bad === undefined) break;
    const refusal = refusalIn(method.name, await carrier.call(method, bad.request));
    const complaint = complaintAbout(bad, refusal);
    if (complaint !== undefined) complaints.push(`${bad.flaw} ${bad.field} ${complaint}`);
    if (refusal === undefined) cases = casesOf(method, sample, await another(place));
  }
  return complaints;
}
