import { createServer } from "node:net";
import { Fault, systemRandom } from "@tenure/kernel";
import { reservePort } from "./reserve-port.ts";

/**
 * Below the ports that Linux (from 32768) and macOS (from 49152) give to outgoing connections: a server that is killed
 * and restarted finds its port still free.
 */
const lowestPort = 20_000;
const highestPort = 32_000;

/** Test processes that run at the same time look first in a part of their own, and so hardly race for a port. */
const ownPorts = 400;
const firstOwnPort = lowestPort + (process.pid % ((highestPort - lowestPort) / ownPorts)) * ownPorts;

/** Each try is one bind; so many in a row only fail on a machine that is full. */
const mostTries = 200;

/** Ports that this process gave out or tried: never given twice, although nothing may listen on them yet. */
const given = new Set<number>();

/** A TCP port of 127.0.0.1 on which nothing listens, and which no other test process is given until this one ends. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const [first, count] = tries < mostTries / 2 ? [firstOwnPort, ownPorts] : [lowestPort, highestPort - lowestPort];
    const port = first + Math.floor(systemRandom.next() * count);
    if (given.has(port)) continue;
    given.add(port);
    if (reservePort(port) && (await isFree(port))) return port;
  }
  throw new Fault({
    code: "RESOURCE_EXHAUSTED",
    reason: "NO_FREE_PORT",
    message: `${mostTries} random ports between ${lowestPort} and ${highestPort} were all in use`,
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
