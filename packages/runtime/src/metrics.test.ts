import { describe, expect, it } from "vitest";
import { Health } from "./health.ts";
import { createMetrics } from "./metrics.ts";
import { productVersion } from "./version.ts";

describe("createMetrics", () => {
  it("shows what runs, whether it is ready, and how the connection fares", async () => {
    const health = new Health();
    const metrics = createMetrics("probe", health);
    metrics.natsConnected.set(1);
    metrics.natsReconnects.inc();
    const text = await metrics.registry.metrics();
    expect(text).toContain(
      `tenure_build_info{version="${productVersion}",node="${process.versions.node}",service="probe"} 1`,
    );
    expect(text).toContain('tenure_ready{service="probe"} 0');
    expect(text).toContain('tenure_nats_connected{service="probe"} 1');
    expect(text).toContain('tenure_nats_reconnects_total{service="probe"} 1');
    expect(text).toContain("process_cpu_seconds_total");
    health.set("nats", true);
    expect(await metrics.registry.metrics()).toContain('tenure_ready{service="probe"} 1');
  });
});
