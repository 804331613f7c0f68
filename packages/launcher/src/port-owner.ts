import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Who listens on a port, as far as this user may see. */
export interface PortOwner {
  readonly pid: number;
  readonly command: string;
}

/** Finds the process that listens on a TCP port: from /proc on Linux, through lsof elsewhere; undefined if unseen. */
export function findPortOwner(port: number): PortOwner | undefined {
  try {
    return process.platform === "linux" ? ownerFromProc(port) : ownerFromLsof(port);
  } catch {
    return undefined; // Not being allowed to look is not worth a second error beside the first.
  }
}

/** The inode numbers of listening sockets on `port` in the text of /proc/net/tcp or tcp6. */
export function listeningInodes(table: string, port: number): Set<string> {
  const inodes = new Set<string>();
  for (const line of table.split("\n").slice(1)) {
    const columns = line.trim().split(/\s+/);
    const [, local = "", , state = ""] = columns;
    const isListening = state === "0A";
    if (isListening && Number.parseInt(local.split(":")[1] ?? "", 16) === port) inodes.add(columns[9] ?? "");
  }
  return inodes;
}

function ownerFromProc(port: number): PortOwner | undefined {
  const inodes = new Set(
    ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) => [...listeningInodes(readFileSync(file, "utf8"), port)]),
  );
  if (inodes.size === 0) return undefined;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if (!holdsSocket(pid, inodes)) continue;
    return { pid: Number(pid), command: readFileSync(`/proc/${pid}/comm`, "utf8").trim() };
  }
  return undefined;
}

function holdsSocket(pid: string, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? [];
      return inode !== undefined && inodes.has(inode);
    });
  } catch {
    return false; // The process has gone or belongs to another user.
  }
}

function ownerFromLsof(port: number): PortOwner | undefined {
  const text = execFileSync("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpc"], { encoding: "utf8" });
  const pid = /^p(\d+)$/m.exec(text)?.[1];
  return pid === undefined ? undefined : { pid: Number(pid), command: /^c(.+)$/m.exec(text)?.[1] ?? "unknown" };
}
