import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listeningInodes } from "./port-owner.ts";
import { freePort, takePort } from "./ports.ts";

describe("ports", () => {
  let server: Server;
  let taken: number;

  beforeAll(async () => {
    taken = await freePort();
    server = createServer();
    await new Promise<void>((resolve) => server.listen(taken, "127.0.0.1", resolve));
  });
  afterAll(() => void server.close());

  it("takes a free port as it was chosen", async () => {
    const port = await freePort();
    expect(await takePort(port, "gRPC", "--port")).toBe(port);
  });

  it("names the owner of a taken port and the flag to choose another", async () => {
    await expect(takePort(taken, "gRPC", "--port")).rejects.toThrow(
      new RegExp(
        `^port ${taken} for gRPC is taken by .+\\(process ${process.pid}\\): stop that, or choose another with --port N or --port auto$`,
      ),
    );
  });

  it("finds a free one for auto", async () => {
    expect(await takePort("auto", "gRPC", "--port")).not.toBe(taken);
  });

  it("reads listening sockets, and only those, from the kernel's table", () => {
    const table = [
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
      "   0: 0100007F:20B0 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1",
      "   1: 0100007F:20B0 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 4343 1",
      "   2: 0100007F:20B1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4444 1",
    ].join("\n");
    expect([...listeningInodes(table, 0x20b0)]).toEqual(["4242"]);
  });
});
