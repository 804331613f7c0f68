import { describe, expect, it } from "vitest";
import { readEnvironment } from "./environment.ts";
import { keysOf } from "./key.ts";
import { describeProblem } from "./problem.ts";

const keys = keysOf({ httpPort: { kind: "integer", min: 0, max: 9, doc: "Port." } });

function read(environment: Readonly<Record<string, string>>) {
  const { given, problems } = readEnvironment(environment, keys, ["TENURE_SHARED"]);
  return { given: [...given.values()].map(({ raw }) => raw), problems: problems.map(describeProblem) };
}

describe("readEnvironment", () => {
  it("takes its own variables and leaves the rest of the environment alone", () => {
    const environment = { TENURE_HTTP_PORT: "1", PATH: "/bin", TENURE_SHARED: "x", HTTP_PORT: "2" };
    expect(read(environment)).toEqual({ given: ["1"], problems: [] });
  });

  it("counts an empty variable as absent", () => {
    expect(read({ TENURE_HTTP_PORT: "" })).toEqual({ given: [], problems: [] });
  });

  it("refuses a variable of the product that nobody knows, and suggests the nearest", () => {
    expect(read({ TENURE_HTTP_PROT: "1" }).problems).toEqual([
      "TENURE_HTTP_PROT is not a known environment variable: did you mean TENURE_HTTP_PORT?",
    ]);
  });

  it.each([
    ["TENURE_SERVICE_HOST", "10.0.0.1"],
    ["TENURE_GATEWAY_SERVICE_PORT_GRPC", "8368"],
    ["TENURE_GATEWAY_PORT_8368_TCP_ADDR", "10.0.0.1"],
    ["TENURE_PORT", "tcp://10.0.0.1:8368"],
  ])("ignores %s, which container platforms set for a service's neighbours", (name, value) => {
    expect(read({ [name]: value }).problems).toEqual([]);
  });

  it("refuses a variable that only looks like a platform's", () => {
    expect(read({ TENURE_CONSOLE_PORT: "8368" }).problems).toHaveLength(1);
  });
});
