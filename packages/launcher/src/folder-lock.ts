import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { Fault } from "@tenure/kernel";
import { isAlive, startOf } from "./process-alive.ts";

/**
 * Takes a folder for this process alone, by a file that can be created only once. A file whose process is gone, or
 * whose id belongs to another process by now, is taken over. Returns what gives the folder back.
 */
export function lockFolder(folder: string, file: string): () => void {
  const mine = `${process.pid} ${startOf(process.pid)}`;
  if (!createOnce(file, mine)) {
    const owner = ownerOf(file);
    if (owner !== undefined) throw inUse(folder, owner);
    rmSync(file, { force: true });
    // Between the two someone else may have been faster: then it is theirs.
    if (!createOnce(file, mine)) throw inUse(folder, ownerOf(file));
  }
  return () => rmSync(file, { force: true });
}

/** Who holds the lock; undefined if that process is gone. */
function ownerOf(file: string): number | undefined {
  const [pid = "", start = ""] = readIfThere(file).split(" ");
  const owner = Number(pid);
  return isAlive(owner) && (start === "" || start === startOf(owner)) ? owner : undefined;
}

function createOnce(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function inUse(folder: string, owner: number | undefined): Fault {
  const who = owner === undefined ? "another start" : `another start (process ${owner})`;
  const message = `${folder} is in use by ${who}: stop that one, or use another folder with --data DIR`;
  return new Fault({ code: "FAILED_PRECONDITION", reason: "DATA_FOLDER_IN_USE", message });
}
