import { systemClock } from "@tenure/kernel";
import type { Figures } from "../benchmark.ts";
import type { PeerClient } from "../clients/peer-client.ts";
import { figuresOf } from "./measure.ts";

/** Between two changes everything is left alone for this long. */
const restMs = 10;

/** Changes of one watched record for some time, each timed from its send to the moment at which each watch saw it. */
export async function startWatches(client: PeerClient, watchers: number) {
  let missing = 0;
  let sentAtMs = 0;
  let onAll: () => void = () => {};
  let latenciesMs: number[] = [];
  const watched = await client.watched(watchers, () => {
    latenciesMs.push(systemClock.now() - sentAtMs);
    missing -= 1;
    if (missing === 0) onAll();
  });
  const change = async () => {
    await watched.prepare();
    await systemClock.sleep(restMs);
    missing = watchers;
    const all = new Promise<void>((resolve) => {
      onAll = resolve;
    });
    sentAtMs = systemClock.now();
    await Promise.all([watched.change(), all]);
  };
  return async (durationMs: number): Promise<Figures> => {
    const startedAtMs = systemClock.now();
    latenciesMs = [];
    let changes = 0;
    while (systemClock.now() < startedAtMs + durationMs) {
      await change();
      changes += 1;
    }
    return figuresOf(changes, systemClock.now() - startedAtMs, latenciesMs);
  };
}
