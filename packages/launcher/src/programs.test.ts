import { describe, expect, it } from "vitest";
import { parseOptions } from "./options.ts";
import { servicePrograms } from "./programs.ts";

describe("the programs of the services", () => {
  const programs = (credentials: string | undefined) =>
    servicePrograms({
      options: parseOptions([], "/somewhere"),
      nats: { url: "nats://127.0.0.1:4222", credentials },
      grpcPort: 1,
      httpPort: 2,
      environment: {},
    });

  it("sign in with the seed of their own user, and only the lease store with that of the compactor too", () => {
    for (const { args, name } of programs("/seeds")) {
      expect(args[args.indexOf("--nats-nkey-file") + 1]).toBe(`/seeds/${name}.nk`);
      const compactor = args.indexOf("--compactor-nkey-file");
      expect(compactor >= 0 ? args[compactor + 1] : undefined).toBe(
        name === "lease-store" ? "/seeds/compactor.nk" : undefined,
      );
    }
  });

  it("name no seeds on a server that is somebody else's", () => {
    for (const { args } of programs(undefined)) expect(args.join(" ")).not.toContain("nkey");
  });
});
