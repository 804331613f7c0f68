import type { BusStatus } from "@tenure/bus";
import type { Fault } from "@tenure/kernel";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { followBus } from "./follow-bus.ts";
import { Health } from "./health.ts";
import { createMetrics } from "./metrics.ts";

describe("followBus", () => {
  it("makes readiness and metrics follow the connection, and calls a closed one the end", async () => {
    const health = new Health();
    const metrics = createMetrics("probe", health);
    const faults: Fault[] = [];
    let change: (status: BusStatus) => void = () => {};
    const bus = {
      connected: true,
      onStatus(listener: (status: BusStatus) => void) {
        change = listener;
        return () => {};
      },
    };
    const onClosed = (fault: Fault): void => void faults.push(fault);
    followBus(bus, { health, metrics, log: pino({ level: "silent" }), onClosed });
    const state = async () => ({
      ready: health.ready,
      connected: (await metrics.natsConnected.get()).values[0]?.value,
      reconnects: (await metrics.natsReconnects.get()).values[0]?.value,
    });
    expect(await state()).toEqual({ ready: true, connected: 1, reconnects: 0 });
    change("disconnected");
    expect(await state()).toEqual({ ready: false, connected: 0, reconnects: 0 });
    expect(health.unmet).toEqual([
      { condition: "nats", why: "the connection to NATS is lost, and is tried again for ever" },
    ]);
    change("connected");
    expect(await state()).toEqual({ ready: true, connected: 1, reconnects: 1 });
    change("closed");
    expect(await state()).toEqual({ ready: false, connected: 0, reconnects: 1 });
    expect(faults.map(({ reason }) => reason)).toEqual(["NATS_CLOSED"]);
  });
});
