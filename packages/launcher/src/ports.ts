import { createServer } from "node:net";
import { Fault } from "@tenure/kernel";
import type { PortChoice } from "./options.ts";
import { findPortOwner } from "./port-owner.ts";

const loopback = "127.0.0.1";

/** A port that nobody listened on a moment ago. */
export async function freePort(): Promise<number> {
  return await listenOnce(0);
}

/** The chosen port if it is free, any free one for `auto`; otherwise a fault that names the owner and the way out. */
export async function takePort(choice: PortChoice, purpose: string, flag: string): Promise<number> {
  if (choice === "auto") return await freePort();
  try {
    return await listenOnce(choice);
  } catch (cause) {
    throw portTaken(choice, purpose, flag, cause);
  }
}

function portTaken(port: number, purpose: string, flag: string, cause: unknown): Fault {
  const code = (cause as NodeJS.ErrnoException).code;
  const owner = findPortOwner(port);
  const by = owner === undefined ? "by another process" : `by ${owner.command} (process ${owner.pid})`;
  const what = code === "EADDRINUSE" ? `is taken ${by}` : `cannot be used (${code ?? String(cause)})`;
  const message = `port ${port} for ${purpose} ${what}: stop that, or choose another with ${flag} N or ${flag} auto`;
  return new Fault({ code: "UNAVAILABLE", reason: "PORT_TAKEN", message, cause });
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host: loopback, port, exclusive: true }, () => {
      const address = server.address();
      const taken = typeof address === "object" && address !== null ? address.port : port;
      server.close(() => resolve(taken));
    });
  });
}
