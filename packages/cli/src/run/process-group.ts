import { existsSync, readdirSync, readFileSync } from "node:fs";
import { systemClock } from "@tenure/kernel";

/** Whether the states of processes can be read here; without them zombies cannot be told apart. */
const hasStates = existsSync("/proc/self/stat");

/** What the kernel cannot end, as a write that hangs, is waited for this long. */
const longestEndMs = hasStates ? 60_000 : 200;

/** Sends a signal to every process of a group. False when there is none left. */
export function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch (error) {
    // EPERM: something of the group runs as another user, and is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Kills a group; resolves when nothing of it can act any more. */
export async function endGroup(groupId: number): Promise<void> {
  const boundMs = systemClock.now() + longestEndMs;
  while (signalGroup(groupId, "SIGKILL") && canAct(groupId) && systemClock.now() < boundMs) await systemClock.sleep(10);
}

/** Whether a group has more than zombies, which count as members for ever when nobody reaps them. */
function canAct(groupId: number): boolean {
  if (!hasStates) return true;
  return readdirSync("/proc").some((name) => /^\d+$/.test(name) && isActingMember(name, groupId));
}

function isActingMember(processId: string, groupId: number): boolean {
  try {
    const text = readFileSync(`/proc/${processId}/stat`, "utf8");
    // The name in parentheses may hold anything; state, parent and group follow the last parenthesis.
    const [state = "", , group] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return Number(group) === groupId && !"ZX".includes(state);
  } catch {
    return false;
  }
}
