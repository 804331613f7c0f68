let watching = false;

/**
 * Ends a worker of the test runner when the runner is gone. A runner that is ended by SIGTERM or SIGINT does not end
 * its workers, and one that hangs in a test would keep its servers and services for ever. The channel between the two
 * closes however the runner ended; SIGKILL, because the runner catches every gentler way out. What the worker started
 * dies with it.
 */
export function endWithTestRunner(): void {
  if (watching || !process.connected || process.env.VITEST === undefined) return;
  watching = true;
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
}
