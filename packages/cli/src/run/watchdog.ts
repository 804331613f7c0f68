// A process of its own, in a session of its own: it starts the program and kills the program's whole group at the
// deadline unless it is told a later one. It does so also when the command line is stopped or killed, which is why it
// shares neither process nor group with it.
import { type ChildProcess, spawn } from "node:child_process";
import { systemClock, type Timer } from "@tenure/kernel";
import { endGroup, signalGroup } from "./process-group.ts";
import { type MachineInstant, msUntil, type Role, type WatchdogNews, type WatchdogOrder } from "./watchdog-messages.ts";

/** The deadline is looked at this often: a timer alone would be late by the length of a suspend. */
const lookEveryMs = 250;

/** The groups that run, by what they are for. */
const groups = new Map<Role, number>();
let deadline: MachineInstant | undefined;
let timer: Timer | undefined;

function tell(news: WatchdogNews): void {
  if (process.connected) process.send?.(news, () => undefined);
}

function signalAll(signal: NodeJS.Signals): void {
  for (const groupId of groups.values()) signalGroup(groupId, signal);
}

function look(): void {
  timer?.cancel();
  if (groups.size === 0 || deadline === undefined) return;
  const leftMs = msUntil(deadline);
  if (leftMs <= 0) signalAll("SIGKILL");
  timer = systemClock.schedule(Math.min(Math.max(leftMs, 1), lookEveryMs), look);
}

function start(order: Extract<WatchdogOrder, { kind: "start" }>): void {
  const { environment, program, role } = order;
  const [file = "", ...programArguments] = program;
  deadline = order.deadline;
  // The order may have waited while this process, or the one that sent it, stood still.
  if (msUntil(deadline) <= 0) {
    tell({ kind: "too-late", role });
    return;
  }
  const onFailure = ({ code, message }: NodeJS.ErrnoException): void =>
    tell({ kind: "not-started", role, why: code === "ENOENT" ? "there is no such program" : message });
  let child: ChildProcess;
  try {
    const env = { ...process.env, ...environment };
    child = spawn(file, programArguments, { detached: true, stdio: "inherit", env });
  } catch (error) {
    // Some reasons are thrown, as a path through a file or too long an argument; the others are told below.
    onFailure(error as NodeJS.ErrnoException);
    return;
  }
  child.once("error", (error) => {
    if (child.pid === undefined) onFailure(error);
  });
  if (child.pid === undefined) return;
  const groupId = child.pid;
  groups.set(role, groupId);
  look();
  tell({ kind: "started", role, groupId });
  child.once("exit", (code, signal) => void end(role, groupId, { code, signal }));
}

/** What a program leaves behind must not act when the lease is given back. */
async function end(
  role: Role,
  groupId: number,
  status: { readonly code: number | null; readonly signal: NodeJS.Signals | null },
): Promise<void> {
  const preStop = role === "main" ? groups.get("pre-stop") : undefined;
  if (preStop !== undefined) signalGroup(preStop, "SIGKILL");
  await endGroup(groupId);
  groups.delete(role);
  tell({ kind: "ended", role, ...status });
  if (!process.connected && groups.size === 0) process.exit();
}

process.on("message", (order: WatchdogOrder) => {
  if (order.kind === "start") start(order);
  else {
    deadline = order.deadline;
    look();
  }
});

// The command line is gone and nobody renews any more. The program is asked to finish in what is left of its term.
process.on("disconnect", () => {
  if (groups.size === 0) process.exit();
  signalAll("SIGTERM");
  signalAll("SIGCONT");
});

// A terminal's Ctrl-C and a service manager's SIGTERM reach the command line, which decides.
for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"] as const) {
  process.on(signal, () => undefined);
}
