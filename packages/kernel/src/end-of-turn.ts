/**
 * Runs `action` at the end of the present turn of the event loop: after every promise reaction that is ready now, also
 * those that become ready meanwhile, and before anything else. What one turn asks for can so travel together.
 */
export function atEndOfTurn(action: () => void): void {
  afterPromises(() => process.nextTick(action));
}

const settled = Promise.resolve();

/** Runs `action` as a microtask. What `queueMicrotask` does, without the resource that Node.js makes for each of those. */
export function afterPromises(action: () => void): void {
  void settled.then(action);
}

/** Resolves in a turn of its own, when the promises of those who asked before are done and what they sent has left. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Resolves at the end of the present turn, when what it had to send has left and before anything else arrives. */
export function turnSent(): Promise<void> {
  return new Promise((resolve) => atEndOfTurn(() => afterPromises(resolve)));
}
