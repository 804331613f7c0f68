/**
 * Carries each connection to one of several addresses, byte for byte: TLS and gRPC pass through unread.
 *
 * Bytes flow only as fast as the slower side takes them; each side's end and each side's failure reach the other.
 */
import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";

/** @typedef {import("node:net").Socket} Socket */

/** Open connections per port: beyond it new ones are refused at once, instead of using up the memory. */
const maxConnections = 10_000;

/** How long one address may take to accept before the next one is tried; on one machine the kernel accepts at once. */
const connectTimeoutMs = 500;

/**
 * Connects to one address; undefined if it does not accept in time.
 * @param {string} host
 * @param {number} port
 * @returns {Promise<Socket | undefined>}
 */
function connectTo(host, port) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true, keepAlive: true });
    const fail = () => {
      socket.destroy();
      resolve(undefined);
    };
    socket.setTimeout(connectTimeoutMs, fail);
    socket.once("error", fail);
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.off("error", fail);
      socket.off("timeout", fail);
      resolve(socket);
    });
  });
}

/**
 * Connects to the first address that accepts; undefined if none does.
 * @param {readonly string[]} addresses
 * @param {number} port
 * @returns {Promise<Socket | undefined>}
 */
async function connectToFirst(addresses, port) {
  for (const host of addresses) {
    const socket = await connectTo(host, port);
    if (socket !== undefined) return socket;
  }
  return undefined;
}

/**
 * Joins two sockets until both have ended, or until one fails, which ends the other.
 * @param {Socket} one
 * @param {Socket} other
 */
function join(one, other) {
  /** @param {Error | null | undefined} error */
  const done = (error) => {
    if (!error) return;
    one.destroy();
    other.destroy();
  };
  pipeline(one, other, done);
  pipeline(other, one, done);
}

/**
 * Listens on a port and carries each connection to one of the backends.
 * @param {object} options
 * @param {string} options.host where to listen
 * @param {number} options.port where to listen
 * @param {number} [options.backendPort] where the backends listen; the same port unless told
 * @param {{ choices(): readonly string[] }} options.backends
 */
export function forward({ host, port, backendPort = port, backends }) {
  /** @type {Set<Socket>} */
  const open = new Set();
  const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true }, async (client) => {
    open.add(client);
    client.once("close", () => open.delete(client));
    client.on("error", () => client.destroy());
    const backend = await connectToFirst(backends.choices(), backendPort);
    if (backend === undefined || client.destroyed) {
      backend?.destroy();
      client.destroy();
      return;
    }
    join(client, backend);
  });
  server.maxConnections = maxConnections;
  server.listen(port, host);
  return {
    server,
    /**
     * Takes no new connection, lets the open ones end within the bound, then cuts them.
     * @param {number} boundMs
     */
    async stop(boundMs) {
      const closed = new Promise((resolve) => server.close(resolve));
      const cut = setTimeout(() => {
        for (const client of open) client.destroy();
      }, boundMs);
      await closed;
      clearTimeout(cut);
    },
  };
}
