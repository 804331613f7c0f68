import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sweepLater } from "./sweeper.ts";

/** A folder that exists as long as it is not disposed and this process lives. */
export interface TempDirectory extends AsyncDisposable {
  readonly path: string;
}

/** Makes an empty folder of one's own. It is removed when disposed, and when this process ends in any way. */
export async function tempDirectory(): Promise<TempDirectory> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "tenure-test-")));
  sweepLater(path);
  return {
    path,
    // A process that is just ending may still write into it.
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }),
  };
}
