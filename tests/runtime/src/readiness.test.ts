import { systemClock } from "@tenure/kernel";
import { watchPresence } from "@tenure/runtime";
import { type ManagedProcess, startDeployment, waitFor } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { complaintsOf, httpOf, startProbe } from "./probe-process.ts";

async function statusOf(http: string, path: string): Promise<number> {
  return (await fetch(`${http}${path}`)).status;
}

async function metricOf(http: string, name: string): Promise<number> {
  const text = await (await fetch(`${http}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "m").exec(text)?.[1]);
}

async function waitForReady(http: string, status: number): Promise<void> {
  const describe = `/readyz to answer ${status}`;
  await waitFor(async () => (await statusOf(http, "/readyz")) === status, { describe });
}

describe("readiness", () => {
  it("follows NATS through kill -9 and restart, while the process stays alive and is never restarted", async () => {
    await using deployment = await startDeployment({ services: {} });
    const { nats } = deployment;
    await using probe = startProbe([`--nats-url=${nats.url}`]);
    const http = await httpOf(probe);
    await waitForReady(http, 200);
    expect(await metricOf(http, "tenure_nats_connected")).toBe(1);
    expect(await metricOf(http, "tenure_ready")).toBe(1);

    await nats.kill9();
    await waitForReady(http, 503);
    const unready = await fetch(`${http}/readyz`);
    expect(await unready.json()).toEqual({
      ready: false,
      unmet: [{ condition: "nats", why: "the connection to NATS is lost, and is tried again for ever" }],
    });
    expect(await statusOf(http, "/livez")).toBe(200);
    expect(await metricOf(http, "tenure_nats_connected")).toBe(0);
    expect(await metricOf(http, "tenure_ready")).toBe(0);

    await nats.restart();
    await waitForReady(http, 200);
    expect(await statusOf(http, "/livez")).toBe(200);
    expect(await metricOf(http, "tenure_nats_reconnects_total")).toBe(1);
    expect(probe.exit).toBeUndefined();
  });

  it("notices a NATS server that stands still, and recovers when it goes on", async () => {
    await using deployment = await startDeployment({ services: {} });
    const { nats } = deployment;
    await using probe = startProbe([`--nats-url=${nats.url}`]);
    const http = await httpOf(probe);
    await waitForReady(http, 200);
    await nats.pause();
    await waitForReady(http, 503);
    expect(await statusOf(http, "/livez")).toBe(200);
    nats.resume();
    await waitForReady(http, 200);
  });
});

describe("a stop without NATS", () => {
  it.each(["killed", "paused"] as const)("is as orderly when the server was %s, and exits 0", async (how) => {
    await using deployment = await startDeployment({ services: {} });
    const { nats } = deployment;
    await using probe = startProbe([`--nats-url=${nats.url}`]);
    const http = await httpOf(probe);
    await waitForReady(http, 200);
    if (how === "killed") await nats.kill9();
    else await nats.pause();
    await waitForReady(http, 503);
    probe.terminate();
    expect(await probe.waitForExit()).toEqual({ code: 0, signal: null });
    expect(complaintsOf(probe)).toEqual([]);
  });
});

describe("presence", () => {
  it("shows each instance to a watcher, and drops one that was killed", async () => {
    await using deployment = await startDeployment({ services: {} });
    const { bus, nats } = deployment;
    using watch = watchPresence(bus, systemClock, () => {});
    const start = (instance: string): ManagedProcess =>
      startProbe([`--nats-url=${nats.url}`, `--instance=${instance}`]);
    await using first = start("first");
    await using second = start("second");
    const names = () => watch.instances.filter(({ ready }) => ready).map(({ instance }) => instance);
    await waitFor(() => names().join() === "first,second", { describe: "both instances to be ready" });
    const http = await httpOf(first);
    expect(watch.instances[0]).toMatchObject({ service: "probe", httpAddress: http, notReadyReasons: [] });
    expect(watch.instances[0]?.incarnationId).not.toBe("");
    await second.kill9();
    await waitFor(() => watch.instances.length === 1, { describe: "the killed instance to be dropped" });
    expect(names()).toEqual(["first"]);
  });
});
