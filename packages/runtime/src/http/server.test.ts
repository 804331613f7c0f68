import { Fault } from "@tenure/kernel";
import { Gauge, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { Health } from "../health.ts";
import { addEndpoints, Router, startHttpServer } from "./index.ts";

async function serve() {
  const health = new Health();
  const registry = new Registry();
  new Gauge({ name: "things", help: "Things.", registers: [registry] }).set(3);
  const router = new Router();
  addEndpoints(router, health, registry);
  const errors: unknown[] = [];
  const server = await startHttpServer({
    host: "127.0.0.1",
    port: 0,
    router,
    onError: (thrown) => void errors.push(thrown),
  });
  const get = (path: string, method = "GET") => fetch(`http://127.0.0.1:${server.port}${path}`, { method });
  return { health, router, server, errors, get, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe("the http server", () => {
  it("lives whether it is ready or not", async () => {
    await using site = await serve();
    site.health.set("nats", false, "lost");
    const answer = await site.get("/livez");
    expect([answer.status, await answer.text()]).toEqual([200, "ok\n"]);
  });

  it("lists every condition that keeps it from being ready, with 503", async () => {
    await using site = await serve();
    site.health.set("nats", false, "lost");
    site.health.set("log", true);
    const unready = await site.get("/readyz");
    expect(unready.status).toBe(503);
    expect(await unready.json()).toEqual({ ready: false, unmet: [{ condition: "nats", why: "lost" }] });
    site.health.set("nats", true);
    const ready = await site.get("/readyz");
    expect([ready.status, await ready.json()]).toEqual([200, { ready: true, unmet: [] }]);
  });

  it("shows its metrics as Prometheus text", async () => {
    await using site = await serve();
    const answer = await site.get("/metrics");
    expect(answer.headers.get("content-type")).toContain("text/plain; version=0.0.4");
    expect(await answer.text()).toContain("things 3");
  });

  it("answers HEAD without a body, other methods with 405 and other paths with 404", async () => {
    await using site = await serve();
    const head = await site.get("/livez", "HEAD");
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "3", ""]);
    const post = await site.get("/livez", "POST");
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect((await site.get("/livez/")).status).toBe(404);
    expect((await site.get("//")).status).toBe(404);
    expect((await site.get("/")).status).toBe(404);
  });

  it("gives a path to its exact route, else to the longest route above it", async () => {
    await using site = await serve();
    for (const path of ["/", "/console/", "/console/assets/", "/console/about"]) {
      site.router.route(path, (_, response, url) => void response.end(`${path} has ${url.pathname}`));
    }
    const text = async (path: string) => (await site.get(path)).text();
    expect(await text("/console/about")).toBe("/console/about has /console/about");
    expect(await text("/console/x/y")).toBe("/console/ has /console/x/y");
    expect(await text("/console/assets/a.js?v=1")).toBe("/console/assets/ has /console/assets/a.js");
    expect(await text("/other")).toBe("/ has /other");
    expect(await text("/livez")).toBe("ok\n");
    expect(() => site.router.route("/livez", () => {})).toThrow("route /livez is there already");
  });

  it("answers 500 for a handler that throws, and keeps the reason to itself", async () => {
    await using site = await serve();
    site.router.route("/broken", () => Promise.reject(new Error("secret cause")));
    const answer = await site.get("/broken");
    expect([answer.status, await answer.text()]).toEqual([500, "internal error\n"]);
    expect(site.errors).toHaveLength(1);
  });

  it("names the port that is in use, and what to do", async () => {
    await using site = await serve();
    const second = startHttpServer({
      host: "127.0.0.1",
      port: site.server.port,
      router: new Router(),
      onError: () => {},
    });
    await expect(second).rejects.toMatchObject({ reason: "PORT_IN_USE" });
    await expect(second).rejects.toThrow(
      `port ${site.server.port} on 127.0.0.1 is in use: stop what listens there, or choose another port with --http-port`,
    );
  });

  it("names a host that is not this machine's", async () => {
    const options = { host: "192.0.2.1", port: 0, router: new Router(), onError: () => {} };
    await expect(startHttpServer(options)).rejects.toBeInstanceOf(Fault);
    await expect(startHttpServer(options)).rejects.toThrow("192.0.2.1 is not an address of this machine");
  });
});
