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
    // Files of a worker share what they import, and what is built is imported as it is: most of the processors' time
    // went into transforming and evaluating the generated contracts again for each file.
    isolate: false,
    server: { deps: { external: [/\/dist\/.*\.js$/] } },
  },
});
