import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { root } from "./repository.ts";

// The image's own scripts belong to no package, so they are loaded by path.
const { Backends } = await import(`${root}deploy/image/front/backends.mjs`);
const { forward } = await import(`${root}deploy/image/front/forward.mjs`);

/** A server on a free port of an address, stopped when disposed, together with its connections. */
async function listening(server: Server, host = "127.0.0.1") {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
  });
  server.listen(0, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A front on a free port that leads to the given addresses. */
async function frontTo(addresses: readonly string[], backendPort: number) {
  const front = forward({ host: "127.0.0.1", port: 0, backendPort, backends: { choices: () => addresses } });
  await once(front.server, "listening");
  return {
    ...front,
    port: (front.server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => front.stop(0),
  };
}

/** Answers a whole request only once the client has ended its side: shows that ends travel both ways. */
const answerAtEnd = () =>
  createServer({ allowHalfOpen: true }, (socket) => {
    const chunks: Buffer[] = [Buffer.from("got ")];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("end", () => socket.end(Buffer.concat(chunks)));
  });

describe("forward", () => {
  it("carries bytes and each side's end to the other side", async () => {
    await using backend = await listening(answerAtEnd());
    await using front = await frontTo(["127.0.0.1"], backend.port);
    const client = connect({ port: front.port, host: "127.0.0.1", allowHalfOpen: true });
    client.end("hello");
    expect((await buffer(client)).toString()).toBe("got hello");
  });

  it("carries more than any buffer holds, unchanged", async () => {
    await using backend = await listening(answerAtEnd());
    await using front = await frontTo(["127.0.0.1"], backend.port);
    const sent = Buffer.alloc(8 * 1024 * 1024, "tenure");
    const client = connect({ port: front.port, host: "127.0.0.1", allowHalfOpen: true });
    client.end(sent);
    expect((await buffer(client)).subarray(4).equals(sent)).toBe(true);
  });

  it("passes over an address that refuses", async () => {
    await using backend = await listening(answerAtEnd());
    await using front = await frontTo(["::1", "127.0.0.1"], backend.port);
    const client = connect({ port: front.port, host: "127.0.0.1", allowHalfOpen: true });
    client.end("hello");
    expect((await buffer(client)).toString()).toBe("got hello");
  });

  it("closes the connection at once when no address accepts", async () => {
    const backend = await listening(answerAtEnd());
    await backend[Symbol.asyncDispose]();
    await using front = await frontTo(["127.0.0.1"], backend.port);
    const client = connect({ port: front.port, host: "127.0.0.1" });
    client.on("error", () => client.destroy());
    await once(client, "close");
  });

  it("closes the client's connection when its backend dies", async () => {
    const server = createServer((socket) => socket.write("hello"));
    await using backend = await listening(server);
    await using front = await frontTo(["127.0.0.1"], backend.port);
    const client = connect({ port: front.port, host: "127.0.0.1" });
    client.on("error", () => client.destroy());
    await once(client, "data");
    for (const socket of backend.sockets) socket.resetAndDestroy();
    await once(client, "close");
  });

  it("cuts what is still open when its time to stop has passed", async () => {
    const server = createServer((socket) => socket.write("hello"));
    await using backend = await listening(server);
    await using front = await frontTo(["127.0.0.1"], backend.port);
    const client = connect({ port: front.port, host: "127.0.0.1" });
    client.on("error", () => client.destroy());
    await once(client, "data");
    await Promise.all([once(client, "close"), front.stop(10)]);
  });
});

describe("backends", () => {
  /** Gateways on two addresses of this machine at one port; each answers /readyz with what the test says. */
  async function gateways(statusByAddress: Readonly<Record<string, number>>) {
    const server = createHttpServer((request, response) => {
      const status =
        request.url === "/readyz" ? (statusByAddress[request.headers.host?.split(":")[0] ?? ""] ?? 503) : 404;
      response.writeHead(status).end();
    });
    const { port, ...rest } = await listening(server, "127.0.0.1");
    return {
      backends: new Backends({
        host: "gateway",
        readyPort: port,
        timeoutMs: 5_000,
        resolve: async () => Object.keys(statusByAddress),
      }),
      ...rest,
    };
  }

  it("takes ready gateways in turn", async () => {
    await using fixture = await gateways({ "127.0.0.1": 200, localhost: 200 });
    await fixture.backends.refresh();
    expect(fixture.backends.choices()).toEqual(["127.0.0.1", "localhost"]);
    expect(fixture.backends.choices()).toEqual(["localhost", "127.0.0.1"]);
    expect(fixture.backends.choices()).toEqual(["127.0.0.1", "localhost"]);
  });

  it("leaves out a gateway that is not ready", async () => {
    await using fixture = await gateways({ "127.0.0.1": 503, localhost: 200 });
    await fixture.backends.refresh();
    expect(fixture.backends.choices()).toEqual(["localhost"]);
  });

  it("takes any gateway when none is ready, because it can say why", async () => {
    await using fixture = await gateways({ "127.0.0.1": 503, localhost: 503 });
    await fixture.backends.refresh();
    expect(fixture.backends.choices()).toEqual(["127.0.0.1", "localhost"]);
  });

  it("has nothing to offer while the name has no address", async () => {
    const backends = new Backends({ host: "gateway.invalid", readyPort: 1, timeoutMs: 5_000 });
    await backends.refresh();
    expect(backends.choices()).toEqual([]);
  });

  it("takes a gateway that does not answer in time for one that is not ready", async () => {
    await using silent = await listening(createServer());
    const resolve = async () => ["127.0.0.1"];
    const backends = new Backends({ host: "gateway", readyPort: silent.port, timeoutMs: 20, resolve });
    await backends.refresh();
    expect(backends.choices()).toEqual(["127.0.0.1"]);
  });
});
