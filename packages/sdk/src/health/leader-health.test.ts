import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { clientUnderTest } from "../testing/client-under-test.ts";

/** A server with the handler of some leases, and a way to ask it. */
async function serve(test: ReturnType<typeof clientUnderTest>, leases: readonly string[]) {
  const handler = test.client.health(leases);
  const server = createServer((request, response) => {
    if (!handler(request, response)) response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ask: async (path: string, method = "GET") => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
      const text = await answer.text();
      return {
        status: answer.status,
        body: text === "" ? undefined : JSON.parse(text),
        allow: answer.headers.get("allow"),
      };
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

describe("the health handler", () => {
  it("says leader only on the holder, standby on the others, each with its token and what is left", async () => {
    const test = clientUnderTest();
    await using server = await serve(test, ["a/b"]);
    expect(await server.ask("/leader")).toMatchObject({ status: 503, body: { lease: "a/b", role: "standby" } });
    expect((await server.ask("/standby")).status).toBe(200);
    void test.client.lead("a/b", { onOverrun: "signal-only" }, () => new Promise(() => undefined));
    await test.session.clock.advance(0);
    test.session.lastClaim.grant();
    await test.session.clock.advance(0);
    await test.session.clock.advance(100);
    expect(await server.ask("/leader?verbose")).toMatchObject({
      status: 200,
      body: { lease: "a/b", role: "leader", token: "41", holder: "me", remainingMs: 1_000 },
    });
    expect((await server.ask("/standby")).status).toBe(503);
    const now = test.session.clock.now();
    test.session.clock.now = () => now + 1_000;
    expect(await server.ask("/leader")).toMatchObject({ status: 503, body: { role: "standby" } });
  });

  it("takes HEAD and OPTIONS, refuses other methods, and leaves other paths to others", async () => {
    await using server = await serve(clientUnderTest(), ["a/b"]);
    expect(await server.ask("/standby", "HEAD")).toMatchObject({ status: 200, body: undefined });
    expect(await server.ask("/leader", "OPTIONS")).toMatchObject({ status: 204, allow: "GET, HEAD, OPTIONS" });
    expect(await server.ask("/leader", "POST")).toMatchObject({ status: 405 });
    expect((await server.ask("/metrics")).status).toBe(404);
  });

  it("of several leases watches all of them", async () => {
    const test = clientUnderTest();
    await using server = await serve(test, ["a/b", "a/c"]);
    const taking = test.client.lock("a/b", { onOverrun: "signal-only" });
    test.session.lastClaim.grant();
    await taking;
    const answer = await server.ask("/leader");
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject([{ role: "leader" }, { role: "standby" }]);
    expect((await server.ask("/healthz")).status).toBe(200);
    await test.session.clock.advance(60_000);
    expect((await server.ask("/healthz")).status).toBe(503);
  });
});
