/**
 * Runs `action` at the end of the present turn of the event loop: after every promise reaction that is ready now, also
 * those that become ready meanwhile, and before anything else. What one turn asks for can so travel together.
 */
export function atEndOfTurn(action: () => void): void {
  queueMicrotask(() => process.nextTick(action));
}
