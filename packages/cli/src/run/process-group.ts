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
