import { expect, it } from "vitest";
import { GuardedProgram } from "./guarded-program.ts";
import { instantIn } from "./watchdog-messages.ts";

it("a watchdog that cannot be started is one that is gone, not one to wait for", async () => {
  const { execPath } = process;
  process.execPath = "/no/such/node";
  try {
    using guarded = new GuardedProgram();
    const start = { role: "main", program: ["true"], environment: {}, deadline: instantIn(() => 60_000) } as const;
    expect(await guarded.run(start)).toEqual({ kind: "unwatched" });
    expect(guarded.isWatched).toBe(false);
    expect(await guarded.run(start)).toEqual({ kind: "unwatched" });
  } finally {
    process.execPath = execPath;
  }
});
