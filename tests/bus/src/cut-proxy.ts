import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy before one server, that can be cut: a client behind it is disconnected while all others are not. */
export interface CutProxy extends AsyncDisposable {
  readonly port: number;
  /** Ends every connection and refuses new ones. */
  cut(): void;
  /** Takes connections again. */
  heal(): void;
  /** Reads nothing more from the connections that exist, and leaves them open; later ones work. */
  stall(): void;
}

/** Starts a proxy to a port of this machine. */
export async function startCutProxy(targetPort: number): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  };
  const server = createServer((inbound) => {
    track(inbound);
    if (isCut) {
      inbound.destroy();
      return;
    }
    const outbound = connect(targetPort, "127.0.0.1");
    track(outbound);
    inbound.pipe(outbound).pipe(inbound);
    inbound.on("close", () => outbound.destroy());
    outbound.on("close", () => inbound.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cut() {
      isCut = true;
      destroyAll();
    },
    heal() {
      isCut = false;
    },
    stall() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      destroyAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
