import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@tenure/kernel";

/** Where one local deployment keeps everything, and who runs on it. */
export interface DataFolder {
  readonly path: string;
  readonly credentials: string;
  readonly natsStore: string;
  readonly natsConfig: string;
  readonly natsLog: string;
  /** Whether `init` has been through: from then on the streams must exist, and nothing creates them again. */
  readonly isInitialised: boolean;
  markInitialised(): void;
  /** Lets another start use the folder. */
  release(): void;
}

/**
 * Opens the folder for this process alone, empty when `fresh`. A second start on the same folder is refused, because
 * two NATS servers on one store would destroy it.
 */
export function openDataFolder(path: string, fresh: boolean): DataFolder {
  const lock = join(path, "launcher.pid");
  const initialised = join(path, "initialised");
  refuseIfRunning(path, lock);
  if (fresh) removeData(path, initialised);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  writeFileSync(lock, String(process.pid));
  return {
    path,
    credentials: join(path, "credentials"),
    natsStore: join(path, "nats"),
    natsConfig: join(path, "nats.conf"),
    natsLog: join(path, "nats.log"),
    get isInitialised() {
      return existsSync(initialised);
    },
    markInitialised: () =>
      writeFileSync(initialised, "streams were created here; services refuse to run without them\n"),
    release: () => rmSync(lock, { force: true }),
  };
}

function refuseIfRunning(path: string, lock: string): void {
  if (!existsSync(lock)) return;
  const pid = Number(readFileSync(lock, "utf8"));
  if (pid === process.pid || !isAlive(pid)) return;
  const message = `${path} is in use by another start (process ${pid}): stop that one, or use another folder with --data DIR`;
  throw new Fault({ code: "FAILED_PRECONDITION", reason: "DATA_FOLDER_IN_USE", message });
}

/** Removes only what a start has made: a folder with other things in it is not ours to delete. */
function removeData(path: string, initialised: string): void {
  if (!existsSync(path)) return;
  if (!existsSync(initialised) && !existsSync(join(path, "nats.conf")) && !existsSync(join(path, "launcher.pid"))) {
    const message = `${path} does not look like a data folder of Tenure: remove it by hand, or use another with --data DIR`;
    throw new Fault({ code: "FAILED_PRECONDITION", reason: "NOT_A_DATA_FOLDER", message });
  }
  rmSync(path, { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
