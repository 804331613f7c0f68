import { describe, expect, it } from "vitest";
import { readyBlock } from "./ready-block.ts";

const running = {
  grpcPort: 8368,
  httpPort: 8369,
  nats: "2.15.1 at nats://127.0.0.1:40123",
  dataFolder: ".tenure/data",
  tookMs: 2345,
  scale: { "lease-store": 1, identity: 1, election: 2, migration: 1, gateway: 1 },
  continued: false,
};

describe("readyBlock", () => {
  it("says what runs where, how to reach it and what to try next, within 80 columns", () => {
    const block = readyBlock(running);
    for (const part of [
      "ready (2.3 s)",
      "127.0.0.1:8368",
      "http://127.0.0.1:8369",
      "election ×2",
      "2.15.1",
      "(new)",
      "Try next",
    ]) {
      expect(block).toContain(part);
    }
    expect(Math.max(...block.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it("names the gRPC address in the sample when it is not the default", () => {
    expect(readyBlock({ ...running, grpcPort: 9000, continued: true })).toContain(
      "TENURE_ENDPOINT=127.0.0.1:9000 npx tenure status",
    );
  });
});
