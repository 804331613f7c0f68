import { type Bus, logSubject } from "@tenure/bus";
import { AppendChannel } from "@tenure/log";
import { changeBytes, logSubjects } from "../clients/raw/log-changes.ts";

/** Behind the subjects that clients append to themselves, so that nobody else appends to it. */
const subject = logSubject(64);
const timeoutMs = 30_000;

/**
 * Appends what clients send: one append is in flight, and what arrives meanwhile goes into the next. One subject is faster
 * than several: the fewer appends, the more changes share one.
 */
export function serveLog(bus: Bus): void {
  const channel = new AppendChannel(bus);
  let arrived: Uint8Array[] = [];
  let counts = new Map<string, number>();
  let last = 0n;
  let isAppending = false;
  const append = async () => {
    const request = { subject, payload: Buffer.concat(arrived), expectedLastSubjectSequence: last, timeoutMs };
    const clients = counts;
    arrived = [];
    counts = new Map();
    const outcome = await channel.append(request);
    if (outcome.kind !== "acked") throw new Error(`an append was refused: ${outcome.description}`);
    last = outcome.sequence;
    for (const [client, count] of clients) bus.publish(`${logSubjects.back}${client}`, Buffer.alloc(count));
  };
  const appendAll = async () => {
    isAppending = true;
    while (arrived.length > 0) await append();
    isAppending = false;
  };
  bus.subscribe(`${logSubjects.there}>`, (changes, there) => {
    const client = there.slice(logSubjects.there.length);
    arrived.push(changes);
    counts.set(client, (counts.get(client) ?? 0) + changes.length / changeBytes);
    if (!isAppending) void appendAll();
  });
}
