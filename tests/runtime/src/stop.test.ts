import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { presenceWildcard } from "@tenure/bus";
import { ServiceState, ServiceStatus } from "@tenure/contracts";
import {
  type Deployment,
  type ManagedProcess,
  type NatsServer,
  startDeployment,
  tempDirectory,
  waitFor,
} from "@tenure/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { complaintsOf, httpOf, logOf, startProbe } from "./probe-process.ts";

let deployment: Deployment;
let nats: NatsServer;

beforeAll(async () => {
  deployment = await startDeployment({ services: {} });
  nats = deployment.nats;
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
});

/** Starts a probe and waits until it is ready. */
async function startReady(...args: readonly string[]): Promise<ManagedProcess> {
  const probe = startProbe([`--nats-url=${nats.url}`, ...args]);
  const http = await httpOf(probe);
  await waitFor(async () => (await fetch(`${http}/readyz`)).status === 200, { describe: "the probe to be ready" });
  return probe;
}

function send(probe: ManagedProcess, signal: NodeJS.Signals): void {
  process.kill(probe.pid, signal);
}

describe("an orderly stop", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("on %s runs every step in order and exits 0", async (signal) => {
    await using directory = await tempDirectory();
    const marker = join(directory.path, "marker");
    const { bus } = deployment;
    const heard: ServiceStatus[] = [];
    bus.subscribe(presenceWildcard("probe"), (payload) => heard.push(ServiceStatus.decode(payload)));
    const instance = `stops-by-${signal}`;
    await using probe = await startReady(`--stop-marker=${marker}`, `--instance=${instance}`, "--log-level=debug");
    const ofProbe = () => heard.filter((status) => status.instance === instance);
    await waitFor(() => ofProbe().some(({ ready }) => ready), { describe: "the probe's presence" });
    send(probe, signal);
    expect(await probe.waitForExit()).toEqual({ code: 0, signal: null });
    expect(complaintsOf(probe)).toEqual([]);

    const stopping = logOf(probe).filter(({ msg }) => /^(stopping|stop step|probe stops|stopped)$/.test(String(msg)));
    expect(stopping.map(({ msg, step }) => step ?? msg)).toEqual([
      "stopping",
      "service",
      "probe stops",
      "presence",
      "bus",
      "http",
      "heap",
      "stopped",
    ]);
    expect(logOf(probe).find(({ msg }) => msg === "probe stops")).toMatchObject({ ready: false, connected: true });
    expect(JSON.parse(await readFile(marker, "utf8"))).toEqual([
      { condition: "lifecycle", why: `stopping: ${signal}` },
    ]);
    await waitFor(() => ofProbe().at(-1)?.state === ServiceState.STOPPING, { describe: "the last announcement" });
    expect(ofProbe().at(-1)).toMatchObject({ ready: false, notReadyReasons: [`lifecycle: stopping: ${signal}`] });
  });

  it("answers 503 on /readyz and 200 on /livez while the service finishes", async () => {
    await using probe = await startReady("--misbehave=hang-stop");
    const http = await httpOf(probe);
    send(probe, "SIGTERM");
    await probe.waitForLine('"probe stops"');
    const ready = await fetch(`${http}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({
      ready: false,
      unmet: [{ condition: "lifecycle", why: "stopping: SIGTERM" }],
    });
    expect((await fetch(`${http}/livez`)).status).toBe(200);
  });

  it.each([
    ["SIGTERM", "SIGTERM", 143],
    ["SIGTERM", "SIGINT", 130],
  ] as const)("ends at once when %s is followed by %s", async (first, second, code) => {
    await using probe = await startReady("--misbehave=hang-stop", "--stop-timeout=10m");
    send(probe, first);
    await probe.waitForLine('"probe stops"');
    send(probe, second);
    expect(await probe.waitForExit()).toEqual({ code, signal: null });
  });

  it("exits 1 and names the step when it takes longer than its bound", async () => {
    await using probe = await startReady("--misbehave=hang-stop", "--stop-timeout=200ms");
    send(probe, "SIGTERM");
    expect(await probe.waitForExit()).toEqual({ code: 1, signal: null });
    expect(complaintsOf(probe)).toEqual(["tenure probe: did not stop within 200ms: step service hung"]);
  });

  it("goes on after a step that fails, says so, and exits 1", async () => {
    await using probe = await startReady("--misbehave=fail-stop", "--log-level=debug");
    send(probe, "SIGTERM");
    expect(await probe.waitForExit()).toEqual({ code: 1, signal: null });
    expect(complaintsOf(probe)).toEqual(["tenure probe: stop step service failed: the probe could not stop"]);
    expect(logOf(probe).flatMap(({ msg, step }) => (msg === "stop step" ? [step] : []))).toEqual([
      "service",
      "presence",
      "bus",
      "http",
      "heap",
    ]);
  });

  it("works while the service still waits for NATS, and exits 0", async () => {
    await using probe = startProbe(["--nats-url=nats://127.0.0.1:1", "--nats-connect-timeout=5m"]);
    const http = await httpOf(probe);
    const ready = await fetch(`${http}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({
      ready: false,
      unmet: [{ condition: "lifecycle", why: "starting: connecting to NATS at nats://127.0.0.1:1" }],
    });
    send(probe, "SIGTERM");
    expect(await probe.waitForExit()).toEqual({ code: 0, signal: null });
    expect(complaintsOf(probe)).toEqual([]);
  });

  it("names a start that does not give up", async () => {
    await using probe = startProbe([`--nats-url=${nats.url}`, "--misbehave=hang-start", "--stop-timeout=200ms"]);
    await probe.waitForLine('"probe starts"');
    send(probe, "SIGTERM");
    expect(await probe.waitForExit()).toEqual({ code: 1, signal: null });
    expect(complaintsOf(probe)).toEqual(["tenure probe: did not stop within 200ms: step boot hung"]);
  });
});

describe("a crash", () => {
  it.each([
    ["throw", "the probe has a bug", "TypeError"],
    ["reject", "the probe forgot a promise", "Fault"],
  ])("by an error that nobody caught (%s) is logged and is the last line, with code 1", async (how, message, type) => {
    await using probe = await startReady(`--misbehave=${how}`);
    const http = await httpOf(probe);
    await fetch(`${http}/crash`).catch(() => undefined);
    expect(await probe.waitForExit()).toEqual({ code: 1, signal: null });
    expect(complaintsOf(probe)).toEqual([`tenure probe: ${message}`]);
    expect(logOf(probe).at(-1)).toMatchObject({ level: "fatal", service: "probe", err: { type, message } });
  });
});

describe("a service's secrets", () => {
  it("are in no line that it logs", async () => {
    await using probe = await startReady("--password=hunter22", "--log-level=trace");
    send(probe, "SIGTERM");
    await probe.waitForExit();
    expect(probe.output.all.join()).not.toContain("hunter22");
    expect(logOf(probe).find(({ msg }) => msg === "probe starts")).toMatchObject({
      password: "[redacted]",
      text: "got [redacted]",
    });
  });
});
