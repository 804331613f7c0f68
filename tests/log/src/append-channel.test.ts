import { systemClock } from "@tenure/kernel";
import { AppendChannel, createStreams } from "@tenure/log";
import { startNats, waitFor } from "@tenure/testkit";
import { expect, it } from "vitest";
import { connect } from "./connect.ts";

const request = (expectedLastSubjectSequence: bigint, timeoutMs = 60_000) => ({
  subject: "tenure.log.3",
  payload: new TextEncoder().encode("batch"),
  expectedLastSubjectSequence,
  timeoutMs,
});

it("appends in a chain, and tells a writer that came late what the last sequence is", async () => {
  await using server = await startNats();
  await using bus = await connect(server.url);
  const { firstSequence } = await createStreams(bus, { replicas: 1, clock: systemClock });
  using channel = new AppendChannel(bus);
  expect(await channel.append(request(0n))).toEqual({ kind: "acked", sequence: firstSequence });
  expect(await channel.append(request(firstSequence))).toEqual({ kind: "acked", sequence: firstSequence + 1n });
  expect(await channel.append(request(firstSequence))).toMatchObject({
    kind: "refused",
    refusal: "Conflict",
    lastSequence: firstSequence + 1n,
  });
});

it("calls what was in flight ambiguous as soon as the connection is lost, and refuses until it is back", async () => {
  await using server = await startNats();
  await using bus = await connect(server.url);
  await createStreams(bus, { replicas: 1, clock: systemClock });
  using channel = new AppendChannel(bus);
  await server.pause();
  const inFlight = [channel.append(request(0n)), channel.append(request(0n))];
  await server.kill9();
  for (const outcome of await Promise.all(inFlight)) {
    expect(outcome).toMatchObject({ kind: "refused", refusal: "Ambiguous" });
  }
  await waitFor(() => !bus.connected, { describe: "the bus to notice" });
  expect(await channel.append(request(0n))).toMatchObject({ kind: "refused", refusal: "Unavailable" });
  await server.restart();
  await waitFor(() => bus.connected, { describe: "the bus to reconnect" });
  await waitFor(async () => (await channel.append(request(0n, 5000))).kind === "acked", {
    describe: "an append after the restart",
  });
});

it("calls an append without an answer ambiguous after its timeout", async () => {
  await using server = await startNats();
  await using bus = await connect(server.url);
  bus.nats.subscribe("tenure.log.3", { callback: () => undefined });
  using channel = new AppendChannel(bus);
  expect(await channel.append(request(0n, 50))).toEqual({
    kind: "refused",
    refusal: "Ambiguous",
    description: "no answer within 50 ms",
  });
});
