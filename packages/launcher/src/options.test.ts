import { describe, expect, it } from "vitest";
import { parseOptions } from "./options.ts";

describe("parseOptions", () => {
  it("has defaults for everything", () => {
    expect(parseOptions([], "/project")).toEqual({
      help: false,
      fresh: false,
      dataFolder: "/project/.tenure/data",
      grpcPort: 8368,
      httpPort: 8369,
      logLevel: "info",
      scale: { "lease-store": 1, identity: 1, election: 1, migration: 1, gateway: 1 },
    });
  });

  it("scales several services and takes free ports", () => {
    const options = parseOptions(
      ["--scale", "election=2", "--scale=lease-store=3", "--port", "auto", "--fresh"],
      "/project",
    );
    expect(options.scale).toMatchObject({ election: 2, "lease-store": 3, gateway: 1 });
    expect([options.grpcPort, options.httpPort, options.fresh]).toEqual(["auto", "auto", true]);
  });

  it("puts HTTP one port above gRPC unless told otherwise", () => {
    expect(parseOptions(["--port", "9000"], "/").httpPort).toBe(9001);
    expect(parseOptions(["--port", "9000", "--http-port", "7000"], "/").httpPort).toBe(7000);
    expect(parseOptions(["--port", "65535"], "/").httpPort).toBe("auto");
  });

  it.each([
    [
      ["--scale", "elections=2"],
      '--scale must name one of lease-store, identity, election, migration, gateway (got "elections=2")',
    ],
    [["--scale", "election=0"], '--scale must be NAME=N with N from 1 to 16 (got "election=0")'],
    [["--scale", "election"], '--scale must be NAME=N with N from 1 to 16 (got "election")'],
    [["--port", "http"], '--port must be auto or a port from 1 to 65535 (got "http")'],
    [["--http-port", "70000"], '--http-port must be auto or a port from 1 to 65535 (got "70000")'],
    [["--log-level", "loud"], '--log-level must be trace, debug, info, warn or error (got "loud")'],
    [["--frehs"], "Unknown option '--frehs'; see npm start -- --help"],
  ])("refuses %j with the rule and the value", (argv, message) => {
    expect(() => parseOptions(argv, "/")).toThrow(message);
  });
});
