import { lookup } from "node:dns/promises";
import type { Server } from "node:net";

/** A name may have addresses of a kind that this machine has not, such as those of IPv6. */
const missing = ["EADDRNOTAVAIL", "EAFNOSUPPORT"];

/** Listens on every address of a host, which may be in brackets, with a server each and one port for all. */
export async function listenEverywhere(host: string, port: number, create: () => Server): Promise<readonly Server[]> {
  const found = await lookup(host.replace(/^\[|\]$/g, ""), { all: true });
  const servers: Server[] = [];
  const failures: NodeJS.ErrnoException[] = [];
  for (const address of new Set(found.map((one) => one.address))) {
    const server = create();
    const failure = await listen(server, address, portOf(servers[0]) ?? port);
    if (failure === undefined) servers.push(server);
    else failures.push(failure);
  }
  const [failure] = failures.filter(({ code = "" }) => servers.length === 0 || !missing.includes(code));
  if (failure === undefined) return servers;
  for (const server of servers) server.close();
  throw failure;
}

/** The port that a server listens on. */
export function portOf(server: Server | undefined): number | undefined {
  const address = server?.address();
  return typeof address === "object" ? address?.port : undefined;
}

function listen(server: Server, host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    server.once("error", resolve);
    server.listen(port, host, () => {
      server.off("error", resolve);
      resolve(undefined);
    });
  });
}
