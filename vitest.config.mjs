import { defineConfig } from "vitest/config";

/** The one test configuration: every package runs `vitest run` with it. */
export default defineConfig({
  test: {
    include: ["src/**/*.test.ts"],
    // The machine may have two noisy cores: limits are generous, assertions are exact.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", "json"],
    outputFile: { json: ".results/vitest.json" },
    pool: "forks",
    maxWorkers: 2,
  },
});
