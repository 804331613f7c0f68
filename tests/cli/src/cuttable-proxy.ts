import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A wire between a client and a gateway that can be cut without either end being told. */
export class CuttableProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #isCut = false;

  private constructor(target: string) {
    const [host = "", port = ""] = target.split(":");
    this.#server = createServer((near) => {
      const far = connect(Number(port), host);
      const pair = [near, far] as const;
      this.#pairs.add(pair);
      const close = (): void => {
        this.#pairs.delete(pair);
        near.destroy();
        far.destroy();
      };
      for (const [from, to] of [pair, [far, near] as const]) {
        from.on("data", (chunk) => {
          if (!this.#isCut) to.write(chunk);
        });
        // A cut wire tells neither end that the other has gone.
        from.on("close", () => {
          if (!this.#isCut) close();
        });
        from.on("error", () => undefined);
      }
    });
  }

  static async create(target: string): Promise<CuttableProxy> {
    const proxy = new CuttableProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get endpoint(): string {
    const address = this.#server.address();
    return `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  }

  /** From now on nothing passes. */
  cut(): void {
    this.#isCut = true;
  }

  /** What was cut is closed, and new connections pass. */
  mend(): void {
    this.#isCut = false;
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.mend();
    this.#server.close();
  }
}
