import { createClient, serve } from "@tenure/bus";
import {
  LeaseServiceDefinition,
  LeaseServiceGetRequest,
  LeaseServiceReleaseRequest,
  LeaseServiceWatchRequest,
  LeaseServiceWatchResponse,
} from "@tenure/contracts";
import { startNats } from "@tenure/testkit";
import { expect, test } from "vitest";
import { connectTestBus } from "./test-bus.ts";

test("a generated service is called and served as it is, with 64-bit numbers intact", async () => {
  await using nats = await startNats({ jetstream: false });
  await using serving = await connectTestBus(nats.url, "lease-store");
  await using bus = await connectTestBus(nats.url, "gateway");
  const item = LeaseServiceWatchResponse.fromPartial({});
  await using _server = serve(serving, LeaseServiceDefinition, {
    get: ({ lease }) => ({ lease: undefined, revision: lease?.name === "scheduler" ? 2n ** 63n - 1n : 0n }),
    async *watch() {
      yield item;
      yield item;
    },
  });
  await serving.flush();
  const client = createClient(bus, LeaseServiceDefinition);
  const lease = { namespace: "billing", name: "scheduler" };
  const response = await client.get(LeaseServiceGetRequest.fromPartial({ lease }));
  expect(response.revision).toBe(2n ** 63n - 1n);
  const received: LeaseServiceWatchResponse[] = [];
  for await (const event of client.watch(LeaseServiceWatchRequest.fromPartial({}))) received.push(event);
  expect(received).toEqual([item, item]);
  await expect(client.release(LeaseServiceReleaseRequest.fromPartial({}))).rejects.toMatchObject({
    reason: "NO_RESPONDER",
  });
});
