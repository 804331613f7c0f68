import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempDirectory } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { runProbe } from "./probe-process.ts";

describe("a service's command line", () => {
  it("refuses unknown names and malformed values from every source at once, a line each, with code 2", async () => {
    await using directory = await tempDirectory();
    const file = join(directory.path, "tenure.yaml");
    await writeFile(file, "log-levle: info\n");
    const { code, output } = await runProbe(["--nats-ulr=x", "--stop-timeout=10", "--config", file], {
      TENURE_NATS_TIMEOUT: "1s",
      TENURE_LOG_FORMAT: "xml",
    });
    expect(code).toBe(2);
    expect(output).toEqual([
      "tenure probe: --nats-ulr is not a known flag: did you mean --nats-url?",
      "tenure probe: TENURE_NATS_TIMEOUT is not a known environment variable: see --help",
      `tenure probe: ${file}:1: log-levle is not a known key: did you mean log-level?`,
      'tenure probe: TENURE_LOG_FORMAT must be one of auto, json, pretty (got "xml")',
      'tenure probe: --stop-timeout must be a duration such as 250ms, 10s, 1m30s or 1h (got "10")',
    ]);
  });

  it("prints the configuration with its sources and without its secrets, with code 0", async () => {
    await using directory = await tempDirectory();
    const file = join(directory.path, "password");
    await writeFile(file, "hunter22\n");
    const { code, output } = await runProbe(["--print-config", "--password-file", file], {
      TENURE_NATS_URL: "nats://u:hunter22@127.0.0.1:1,nats://127.0.0.1:2",
      TENURE_CACHE_DIR: "/tmp",
    });
    expect(code).toBe(0);
    const rows = Object.fromEntries(output.map((line) => line.split(/\s{2,}/)).map(([key, ...rest]) => [key, rest]));
    expect(rows).toMatchObject({
      KEY: ["VALUE", "SOURCE"],
      mode: ["development", "TENURE_MODE"],
      "nats-url": ["nats://***@127.0.0.1:1,nats://127.0.0.1:2", "TENURE_NATS_URL"],
      "stop-timeout": ["10s", "default"],
      "password-file": ["(redacted)", "--password-file"],
      "nats-nkey-file": ["-", "not set"],
    });
    expect(output.join()).not.toContain("hunter22");
  });

  it("prints help and version with code 0, whatever else is wrong", async () => {
    const help = await runProbe(["--help", "--nonsense"]);
    expect(help.code).toBe(0);
    expect(help.output.join("\n")).toContain("--nats-url <item,...>  [TENURE_NATS_URL]");
    const version = await runProbe(["--version"]);
    expect([version.code, version.output.length]).toEqual([0, 1]);
    expect(version.output[0]).toMatch(/^tenure probe \d+\.\d+\.\d+$/);
  });

  it("refuses a credential file that is missing or holds something else, with code 2", async () => {
    const { code, complaints } = await runProbe(["--nats-nkey-file=/nowhere/probe.nk", "--nats-key-file=/dev/null"]);
    expect(code).toBe(2);
    expect(complaints).toEqual([
      'tenure probe: nats-nkey-file cannot be read: no such file (got "/nowhere/probe.nk")',
      "tenure probe: nats-cert-file and nats-key-file go together: give both or none",
    ]);
  });
});
