import { describe, expect, it } from "vitest";
import { inheritedEnvironment } from "./environment.ts";

describe("inheritedEnvironment", () => {
  it("leaves out the settings of Tenure and those of a test runner", () => {
    const environment = { PATH: "/bin", TENURE_CACHE_DIR: "/x", VITEST: "true", NODE_OPTIONS: "--x", HOME: "/h" };
    expect(inheritedEnvironment(environment)).toEqual({ PATH: "/bin", HOME: "/h" });
  });
});
