import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { freePort, startDeployment, startNats } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { logOf, runProbe, startProbe } from "./probe-process.ts";

describe("a service that cannot start", () => {
  it("names the port that is in use", async () => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(0, "127.0.0.1", resolve));
    const { port } = squatter.address() as AddressInfo;
    const { code, complaints } = await runProbe([`--http-port=${port}`]).finally(() => squatter.close());
    expect({ code, complaints }).toEqual({
      code: 1,
      complaints: [
        `tenure probe: port ${port} on 127.0.0.1 is in use: stop what listens there, or choose another port with --http-port (0 takes any free one)`,
      ],
    });
  });

  it("says that no NATS server answers, at which URL and for how long", async () => {
    const port = await freePort();
    const url = `nats://u:hunter22@127.0.0.1:${port}`;
    const { code, complaints, output } = await runProbe([`--nats-url=${url}`, "--nats-connect-timeout=500ms"]);
    expect(code).toBe(1);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatch(
      new RegExp(`^tenure probe: no NATS server answered at nats://\\*\\*\\*@127\\.0\\.0\\.1:${port} within 500ms`),
    );
    expect(output.join()).not.toContain("hunter22");
  });

  it("says at once that the credential is refused", async () => {
    const accounts = "authorization { user: probe, password: right-password }";
    await using nats = await startNats({ accounts });
    const url = `nats://probe:wrong-password@127.0.0.1:${nats.port}`;
    const { code, complaints, output } = await runProbe([`--nats-url=${url}`, "--nats-connect-timeout=5m"]);
    expect(code).toBe(1);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toContain(
      "refused the credential: give the NKEY file or the user and password that it knows",
    );
    expect(output.join()).not.toContain("wrong-password");
  });

  it.each([
    ["without JetStream", { jetstream: false }, /jetstream/i],
    ["on which init has not run", {}, /init/],
    ["that is too old", { version: "2.9.10" }, /2\.9\.10/],
  ])("refuses a NATS server %s in one line", async (_, options, text) => {
    await using nats = await startNats(options);
    const { code, complaints } = await runProbe([`--nats-url=${nats.url}`]);
    expect(code).toBe(1);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatch(/^tenure probe: /);
    expect(complaints[0]).toMatch(text);
  });

  it("refuses a deployment whose log was deleted behind its back, and creates nothing", async () => {
    await using deployment = await startDeployment({ services: {} });
    const { bus, nats } = deployment;
    await bus.nats.request("$JS.API.STREAM.DELETE.TENURE_LOG");
    const names = async () => (await bus.nats.request("$JS.API.STREAM.NAMES")).json<{ streams: string[] }>().streams;
    const before = await names();
    const { code, complaints } = await runProbe([`--nats-url=${nats.url}`]);
    expect(code).toBe(1);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toContain("TENURE_LOG");
    expect(await names()).toEqual(before);
  });

  it("refuses in production what it only warns of in development", async () => {
    await using deployment = await startDeployment({ services: {} });
    const { bus, nats } = deployment;
    const read = (await bus.nats.request("$JS.API.STREAM.INFO.TENURE_LOG")).json<{ config: object }>();
    const unsafe = JSON.stringify({ ...read.config, allow_direct: true });
    await bus.nats.request("$JS.API.STREAM.UPDATE.TENURE_LOG", unsafe);
    const args = [`--nats-url=${nats.url}`, `--nats-system-url=${nats.systemUrl}`];

    const refused = await runProbe([...args, "--mode=production"]);
    expect(refused.code).toBe(1);
    expect(refused.complaints).toHaveLength(1);
    expect(refused.complaints[0]).toContain("run three NATS servers in one cluster, or use --mode development");
    expect(refused.output.join()).not.toContain("system:system");

    await using probe = startProbe(args);
    await probe.waitForLine('"probe starts"');
    const findings = logOf(probe).filter(({ finding }) => finding !== undefined);
    expect(findings.map(({ level, severity }) => `${level} ${severity}`)).toEqual(["warn unsafe"]);
    expect(findings[0]?.msg).toContain("allows direct reads");
  });

  it("repeats the service's own fault without a stack, and with one in the log at level debug", async () => {
    await using deployment = await startDeployment({ services: {} });
    const { nats } = deployment;
    const args = [`--nats-url=${nats.url}`, "--misbehave=refuse-start"];
    const plain = await runProbe(args);
    expect(plain.code).toBe(1);
    expect(plain.complaints).toEqual(["tenure probe: the probe will not start: ask nicely"]);
    expect(plain.output.join()).not.toContain("main.js:");
    const debugged = await runProbe([...args, "--log-level=debug"]);
    expect(debugged.complaints).toEqual(plain.complaints);
    expect(debugged.output.join()).toMatch(/main\.(js|ts):/);
  });
});
