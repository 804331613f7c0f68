import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@tenure/kernel";
import { lockFolder } from "./folder-lock.ts";

/** Where one local deployment keeps everything. */
export interface DataFolder {
  readonly path: string;
  readonly credentials: string;
  readonly natsStore: string;
  readonly natsConfig: string;
  readonly natsLog: string;
  /** Whether `init` has been through here: from then on the streams must exist, and nothing creates them again. */
  readonly isInitialised: boolean;
  markInitialised(): void;
  /** Lets another start use the folder. */
  release(): void;
}

/** What a start makes in the folder. Nothing else in it is ever touched. */
const made = { credentials: "credentials", natsStore: "nats", natsConfig: "nats.conf", natsLog: "nats.log" } as const;

/**
 * Opens the folder for this process alone, without the data of earlier starts when `fresh`. A second start on the same
 * folder is refused, because two NATS servers on one store would destroy it.
 */
export function openDataFolder(path: string, fresh: boolean): DataFolder {
  makeFolder(path);
  const release = lockFolder(path, join(path, "launcher.pid"));
  const initialised = join(path, "initialised");
  if (fresh)
    for (const name of [...Object.values(made), "initialised"])
      rmSync(join(path, name), { recursive: true, force: true });
  return {
    path,
    credentials: join(path, made.credentials),
    natsStore: join(path, made.natsStore),
    natsConfig: join(path, made.natsConfig),
    natsLog: join(path, made.natsLog),
    get isInitialised() {
      return existsSync(initialised);
    },
    markInitialised: () =>
      writeFileSync(initialised, "streams were created here; services refuse to run without them\n"),
    release,
  };
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if (statSync(path).isDirectory()) return;
  } catch (cause) {
    throw unusable(path, (cause as NodeJS.ErrnoException).code ?? String(cause));
  }
}

function unusable(path: string, why: string): Fault {
  const message = `${path} cannot be made a data folder (${why}): choose another with --data DIR`;
  return new Fault({ code: "FAILED_PRECONDITION", reason: "DATA_FOLDER_UNUSABLE", message });
}
