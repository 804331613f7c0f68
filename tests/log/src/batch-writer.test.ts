import { systemClock } from "@tenure/kernel";
import { type CommitTrouble, createStreams, JetStreamTransport } from "@tenure/log";
import { startNats, waitFor } from "@tenure/testkit";
import { expect, it } from "vitest";
import { administrator, connect } from "./connect.ts";
import { LogWriter, writerOf } from "./log-writer.ts";
import { storedBatches } from "./stored-log.ts";

const never = new AbortController().signal;
const text = (words: string): Uint8Array => new TextEncoder().encode(words);

it("resolves appends that were applied after their timeout exactly once", async () => {
  await using server = await startNats();
  await using bus = await connect(server.url);
  await createStreams(bus, { replicas: 1, clock: systemClock });
  using transport = new JetStreamTransport({ control: bus });
  const troubles: CommitTrouble[] = [];
  const writer = writerOf(transport, 0, 300, (trouble) => troubles.push(trouble));
  await server.pause();
  const commit = writer.commit(text("ghost"), 0n, never);
  await waitFor(() => troubles.length > 0, { describe: "an append whose outcome is unknown" });
  expect(troubles[0]).toMatchObject({ refusal: "Ambiguous", tries: 1, isUnknown: true });
  server.resume();
  const outcome = await commit;
  expect(outcome.kind).toBe("committed");
  const next = await writer.commit(text("next"), outcome.sequence, never);
  expect(await storedBatches(await administrator(bus), 0)).toEqual([
    { id: "ghost", sequence: outcome.sequence },
    { id: "next", sequence: next.sequence },
  ]);
});

it("tells of two writers with ghosts the one that it won and the other that it lost", async () => {
  await using server = await startNats();
  await using leftBus = await connect(server.url);
  await using rightBus = await connect(server.url);
  await createStreams(leftBus, { replicas: 1, clock: systemClock });
  using left = new JetStreamTransport({ control: leftBus });
  using right = new JetStreamTransport({ control: rightBus });
  const unknown = new Set<JetStreamTransport>();
  await server.pause();
  const commits = [left, right].map((log, index) =>
    writerOf(log, 0, 300, () => unknown.add(log)).commit(text(`writer-${index}`), 0n, never),
  );
  await waitFor(() => unknown.size === 2, { describe: "both outcomes to be unknown" });
  server.resume();
  const outcomes = await Promise.all(commits);
  const stored = await storedBatches(await administrator(leftBus), 0);
  expect(stored).toHaveLength(1);
  expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["committed", "lost"]);
  for (const outcome of outcomes) expect(outcome.sequence).toBe(stored[0]?.sequence);
  expect(outcomes.find(({ kind }) => kind === "lost")).toMatchObject({ applied: "NO" });
});

it("makes exactly one chain of two writers on one partition", async () => {
  await using server = await startNats();
  await using leftBus = await connect(server.url);
  await using rightBus = await connect(server.url);
  await createStreams(leftBus, { replicas: 1, clock: systemClock });
  using left = new JetStreamTransport({ control: leftBus });
  using right = new JetStreamTransport({ control: rightBus });
  const writers = [new LogWriter(left, 0, "left"), new LogWriter(right, 0, "right")];
  await waitFor(() => writers.every(({ committed }) => committed.length >= 50), { describe: "50 commits of each" });
  await Promise.all(writers.map((writer) => writer.stop()));
  const stored = await storedBatches(await administrator(leftBus), 0);
  const committed = writers.flatMap((writer) =>
    writer.committed.map(({ id, outcome: { sequence } }) => ({ id, sequence })),
  );
  expect(committed.sort((a, b) => Number(a.sequence - b.sequence))).toEqual(stored);
  expect(writers.some(({ reports }) => reports.some(({ outcome }) => outcome.kind === "lost"))).toBe(true);
});
