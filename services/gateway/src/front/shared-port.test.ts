import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectSecure } from "node:tls";
import { FakeClock } from "@tenure/kernel";
import { clientOpening } from "@tenure/session/http2";
import { describe, expect, it } from "vitest";
import { openPort, type SharedPortOptions } from "./shared-port.ts";

function makeTls(): { readonly cert: Buffer; readonly key: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), "tenure-port-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost"];
  execFileSync("openssl", ["req", "-x509", ...kind, "-keyout", key, "-out", cert], { stdio: "ignore" });
  const pair = { cert: readFileSync(cert), key: readFileSync(key) };
  rmSync(folder, { recursive: true });
  return pair;
}

function untilClosed(socket: Socket): Promise<void> {
  return new Promise(
    (resolve) =>
      void socket
        .on("error", () => {})
        .once("close", () => resolve())
        .resume(),
  );
}

async function open(options: Partial<SharedPortOptions> = {}) {
  const served: Socket[] = [];
  const port = await openPort({
    host: "127.0.0.1",
    port: 0,
    clock: new FakeClock(),
    serveSession: (socket) => void served.push(socket),
    serveOther: (socket) => void served.push(socket),
    ...options,
  });
  return { port, served };
}

describe("the port of a gateway", () => {
  it.each([
    ["in plain text", undefined],
    ["with TLS", makeTls()],
  ])(
    "closes %s without waiting for those that have said nothing, and lets those that are served end",
    async (_, tls) => {
      const { port, served } = await open({ tls });
      const dial = () =>
        tls === undefined
          ? connect(port.number, "127.0.0.1")
          : connectSecure({
              port: port.number,
              host: "127.0.0.1",
              ca: tls.cert,
              servername: "localhost",
              ALPNProtocols: ["h2"],
            });
      const busy = dial();
      busy.write(clientOpening({ ":path": "/x" }));
      const silent = [connect(port.number, "127.0.0.1"), dial()];
      await Promise.all([
        once(silent[0] as Socket, "connect"),
        once(silent[1] as Socket, tls ? "secureConnect" : "connect"),
      ]);
      await expect.poll(() => served.length, { timeout: 10_000 }).toBe(1);
      let isClosed = false;
      // One that was not accepted yet is reset: how it ends is not the matter, that it ends is.
      const ended = Promise.all(silent.map(untilClosed));
      const closed = port.close().then(() => {
        isClosed = true;
      });
      await ended;
      expect([isClosed, busy.destroyed, served[0]?.destroyed]).toEqual([false, false, false]);
      const cut = once(served[0] as Socket, "close");
      port.cut();
      await Promise.all([cut, closed]);
      busy.destroy();
    },
  );

  it.each(["[::1]", "::1", "localhost"])("is opened at %s", async (host) => {
    const { port } = await open({ host });
    const socket = connect(port.number, host.replace(/[[\]]/g, ""));
    await once(socket, "connect");
    socket.destroy();
    await port.close();
  });

  it("is not opened where another is", async () => {
    const { port } = await open();
    await expect(open({ port: port.number })).rejects.toThrow("EADDRINUSE");
    await port.close();
  });
});
