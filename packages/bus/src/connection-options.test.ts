import { seededRandom, systemClock } from "@tenure/kernel";
import { describe, expect, test } from "vitest";
import type { BusOptions } from "./bus.ts";
import { natsOptions, parseServerUrl } from "./connection-options.ts";

const options: BusOptions = {
  servers: ["nats://127.0.0.1:4222"],
  name: "test",
  inboxPrefix: "_INBOX_test",
  clock: systemClock,
  random: seededRandom(1),
  connectTimeoutMs: 1_000,
};

describe("parseServerUrl", () => {
  test.each([
    ["nats://127.0.0.1:4222", { hostAndPort: "127.0.0.1:4222", requiresTls: false }],
    ["127.0.0.1:4222", { hostAndPort: "127.0.0.1:4222", requiresTls: false }],
    ["tls://nats.example", { hostAndPort: "nats.example", requiresTls: true }],
    ["nats://[::1]:4222/", { hostAndPort: "[::1]:4222", requiresTls: false }],
    [
      "nats://lease-store:p%40ss:4711@nats-1:4222",
      { hostAndPort: "nats-1:4222", requiresTls: false, user: "lease-store", password: "p@ss:4711" },
    ],
  ])("%s is read", (text, expected) => {
    expect(parseServerUrl(text)).toEqual(expected);
  });

  test.each([
    "",
    "http://127.0.0.1:4222",
    "nats://",
    "nats://a b",
    "nats://host:99999",
    "nats://u:secret@",
    "nats://u:secret%@h",
  ])("refuses %j without showing a password", (text) => {
    expect(() => parseServerUrl(text)).toThrow(/^servers must be a URL such as nats:/);
    expect(() => parseServerUrl(text)).not.toThrow(/secret/);
  });
});

describe("natsOptions", () => {
  test("reconnect for ever, with jitter, and notice a silent cut within three pings", () => {
    const made = natsOptions(options, 10_000);
    expect(made).toMatchObject({ maxReconnectAttempts: -1, pingInterval: 1_000, maxPingOut: 2, timeout: 3_000 });
    const waits = Array.from({ length: 50 }, () => made.reconnectDelayHandler?.() ?? 0);
    expect(new Set(waits).size).toBeGreaterThan(40);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(200);
    expect(Math.max(...waits)).toBeLessThanOrEqual(400);
  });

  test("require TLS when a URL or PEM texts say so, and not otherwise", () => {
    expect(natsOptions(options, 1).tls).toBeUndefined();
    expect(natsOptions({ ...options, servers: ["tls://h"] }, 1).tls).toEqual({});
    expect(natsOptions({ ...options, tls: { ca: "PEM" } }, 1).tls).toEqual({ ca: "PEM" });
  });

  test("refuse a malformed seed and an empty list of servers", () => {
    const nkeySeed = new TextEncoder().encode("SUnonsense");
    expect(() => natsOptions({ ...options, nkeySeed }, 1)).toThrow(/NKEY seed/);
    expect(() => natsOptions({ ...options, servers: [] }, 1)).toThrow(/at least one NATS server/);
  });
});
