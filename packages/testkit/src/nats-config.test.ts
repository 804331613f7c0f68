import { describe, expect, test } from "vitest";
import { renderTestConfig } from "./nats-config.ts";

const input = { name: "test", port: 1, monitorPort: 2, version: "2.15.1", storeDirectory: "/data" };

describe("the configuration of a test server", () => {
  test("syncs every write where the server can", () => {
    expect(renderTestConfig(input)).toContain("sync_interval: always");
    expect(renderTestConfig({ ...input, version: "2.10.27" })).toContain("sync_interval: always");
    expect(renderTestConfig({ ...input, version: "2.9.10" })).not.toContain("sync_interval");
  });

  test("leaves JetStream off without a folder for it", () => {
    expect(renderTestConfig({ ...input, storeDirectory: undefined })).not.toContain("jetstream");
  });

  test("replaces the open accounts by those that are given", () => {
    const config = renderTestConfig({ ...input, accounts: "accounts { OWN {} }" });
    expect(config).toContain("accounts { OWN {} }");
    expect(config).not.toContain("no_auth_user");
  });
});
