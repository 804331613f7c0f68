import type { PartitionEvent } from "../partition/event.ts";
import type { ClientWindow, Outcome, OutcomeFacts, RememberedOutcome } from "../partition/outcome.ts";
import type { PartitionState } from "../partition/state.ts";
import type { Position } from "../record/position.ts";

type Recorded = Extract<PartitionEvent, { readonly kind: "attemptRecorded" }>;

/** Remembers what an attempt did. What falls out of the window raises the client's floor: it is refused, not redone. */
export function recordAttempt(state: PartitionState, event: Recorded, position: Position): void {
  const { client, digest, number, settledBelow } = event;
  const known = state.clients.get(client);
  const window = known ?? reviveClient(state, client);
  insert(window, { number, digest, outcome: outcomeAt(event.outcome, position) });
  raiseFloor(window, settledBelow);
  const surplus = window.outcomes.length - state.settings.retention.outcomesPerClient;
  const last = window.outcomes[surplus - 1];
  if (surplus > 0 && last !== undefined) raiseFloor(window, last.number + 1n);
  if (known === undefined || state.newestClient !== client) {
    // Re-inserted, so that the map's order is from the least to the most recently changed client.
    state.clients.delete(client);
    state.clients.set(client, window);
    state.newestClient = client;
  }
  retireClients(state);
}

/** An outcome with its place. An owner's has it already: it is the very reply. */
function outcomeAt(outcome: OutcomeFacts & { readonly position?: Position | undefined }, position: Position): Outcome {
  return outcome.position === position ? (outcome as Outcome) : { ...outcome, position };
}

/** Forgets a client's outcomes below a number. */
export function forgetAttempts(state: PartitionState, client: string, belowNumber: bigint): void {
  const window = state.clients.get(client);
  if (window !== undefined) raiseFloor(window, belowNumber);
}

function insert(window: ClientWindow, remembered: RememberedOutcome): void {
  const { outcomes } = window;
  let place = outcomes.length;
  while (place > 0 && (outcomes[place - 1]?.number ?? 0n) > remembered.number) place--;
  // A list of one has no room to spare: most clients have done one thing.
  if (outcomes.length === 0) window.outcomes = [remembered];
  else if (place === outcomes.length) outcomes.push(remembered);
  else outcomes.splice(place, 0, remembered);
}

function raiseFloor(window: ClientWindow, floor: bigint): void {
  if (floor <= window.floor) return;
  window.floor = floor;
  const { outcomes } = window;
  let below = 0;
  while (below < outcomes.length && (outcomes[below]?.number ?? floor) < floor) below++;
  if (below === outcomes.length) outcomes.length = 0;
  else if (below > 4) outcomes.splice(0, below);
  // Mostly it is one, and a list is made for what is spliced out.
  else for (; below > 0; below--) outcomes.shift();
}

function reviveClient(state: PartitionState, client: string): ClientWindow {
  const floor = state.retiredClients.get(client) ?? 0n;
  state.retiredClients.delete(client);
  return { floor, outcomes: [] };
}

/** Of the clients that have been quiet for longest only the highest number is kept, and of the oldest not even that. */
function retireClients({ clients, retiredClients, settings: { retention } }: PartitionState): void {
  while (clients.size > retention.clientsWithOutcomes) {
    const [oldest] = clients;
    if (oldest === undefined) return;
    const [client, { floor, outcomes }] = oldest;
    clients.delete(client);
    const highest = outcomes.at(-1)?.number ?? 0n;
    retiredClients.set(client, highest + 1n > floor ? highest + 1n : floor);
  }
  while (retiredClients.size > retention.clientsRemembered) {
    const [oldest] = retiredClients.keys();
    if (oldest === undefined) return;
    retiredClients.delete(oldest);
  }
}
