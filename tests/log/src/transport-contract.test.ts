import { logSubject } from "@tenure/bus";
import { systemClock } from "@tenure/kernel";
import { createStreams, JetStreamTransport, streamNames } from "@tenure/log";
import { type LogFixture, logTransportContract } from "@tenure/log/contract";
import { startNats, waitFor } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { administrator, connect } from "./connect.ts";
import { deleteConsumers } from "./stored-log.ts";

/** A server of its own for each case; every client has one connection to append with and another to listen on. */
async function withFixture(version: string | undefined, show: (fixture: LogFixture) => Promise<void>): Promise<void> {
  await using server = await startNats(version === undefined ? {} : { version });
  await using control = await connect(server.url);
  await using tail = await connect(server.url);
  await createStreams(control, { replicas: 1, clock: systemClock });
  const admin = await administrator(control);
  await show({
    connect: () => new JetStreamTransport({ control, tail }),
    purge: async (partition, below) => {
      const request = { filter: logSubject(partition), seq: Number(below) };
      expect(await admin.streams.purge(streamNames.log, request)).toMatchObject({ success: true });
    },
    interrupt: () =>
      waitFor(async () => (await deleteConsumers(admin)) > 0, { describe: "a consumer to delete" }).then(),
    until: (condition, describe) => waitFor(condition, { describe }).then(),
    settle: (promise) => promise,
  });
}

describe.each([
  ["of the newest server", undefined],
  ["of the oldest server that is allowed in development", "2.10.27"],
])("the log on JetStream %s", (_, version) => {
  it.each(logTransportContract.map(({ title, show }) => [title, show] as const))("%s", (_title, show) =>
    withFixture(version, show),
  );
});
