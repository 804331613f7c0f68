import { describe, expect, it } from "vitest";
import { renderAccounts } from "./accounts-config.ts";
import { renderNatsConfig } from "./nats-config.ts";

const base = {
  serverName: "nats-1",
  host: "127.0.0.1",
  port: 4222,
  storeDirectory: '/var/lib/a "quoted" place',
  accounts: { include: "accounts.conf" },
} as const;

describe("renderNatsConfig", () => {
  it("syncs every write and escapes what it quotes", () => {
    const text = renderNatsConfig(base);
    expect(text).toContain("sync_interval: always");
    expect(text).toContain('store_dir: "/var/lib/a \\"quoted\\" place"');
    expect(text).toContain('include "accounts.conf"');
    expect(text).not.toContain("cluster {");
    expect(text).not.toContain("http:");
  });

  it("adds routes and monitoring when they are asked for", () => {
    const text = renderNatsConfig({
      ...base,
      monitor: { host: "::1", port: 8222 },
      cluster: { name: "tenure", host: "0.0.0.0", port: 6222, routes: ["nats://nats-2:6222"] },
    });
    expect(text).toContain('http: "[::1]:8222"');
    expect(text).toContain('listen: "0.0.0.0:6222"');
    expect(text).toContain('"nats://nats-2:6222"');
  });
});

describe("renderAccounts", () => {
  it("names each user's key once, in its account, and lets in nobody without one", () => {
    const text = renderAccounts([
      { user: "gateway", publicKey: "UGATEWAY" },
      { user: "system", publicKey: "USYSTEM" },
    ]);
    const [system, product] = text.split("TENURE {");
    expect(system).toContain("nkey: USYSTEM");
    expect(product).toContain("nkey: UGATEWAY");
    expect(text.match(/nkey:/g)).toHaveLength(2);
    expect(text).toContain("system_account: SYS");
    expect(text).not.toContain("no_auth_user");
  });
});
