import { addTextToHash, emptyHash, endHash, hashBytes } from "../hash.ts";
import type { Attempt, Command } from "../partition/command.ts";
import type { Reply } from "../partition/reply.ts";
import type { PartitionState } from "../partition/state.ts";

/** Most clients whose texts are kept; beyond it the table starts anew, which only costs time. */
const maximumKeys = 4_096;
const keys = new Map<string, { readonly principal: string; readonly key: string }>();

/**
 * One text for a client and its principal: the same client id from another principal is another client. The same object
 * for the same client, because a text that was just put together is slow to look anything up by.
 */
export function clientKey(principal: string, clientId: string): string {
  const known = keys.get(clientId);
  if (known !== undefined && known.principal === principal) return known.key;
  if (keys.size >= maximumKeys) keys.clear();
  const key = `${principal}\n${clientId}`;
  keys.set(clientId, { principal, key });
  return key;
}

/** What is already known of an attempt; undefined if it is new (rule 4). */
export function recallAttempt(state: PartitionState, command: Command, attempt: Attempt): Reply | undefined {
  const { number } = attempt;
  if (number <= 0n) {
    const violation = { field: "attempt.number", rule: "must be above 0", value: String(number) };
    return { kind: "invalid", violations: [violation] };
  }
  const client = clientKey(command.principal, attempt.clientId);
  const window = state.clients.get(client);
  const floor = window?.floor ?? state.retiredClients.get(client) ?? 0n;
  if (number < floor) return { kind: "attemptTooOld", number, floor };
  const highest = window?.outcomes.at(-1)?.number ?? 0n;
  const known = number > highest ? undefined : window?.outcomes.find((remembered) => remembered.number === number);
  if (known === undefined) return undefined;
  return known.digest === digestOf(command) ? known.outcome : { kind: "attemptReused", number };
}

/**
 * A hash of what a command is about: its kind and what it names. A retry may carry another send number, age or beat, so
 * those stay out of it.
 */
export function digestOf(command: Command): number {
  let hash = addTextToHash(emptyHash, command.kind);
  if ("lease" in command) hash = addLine(hash, command.lease);
  if ("candidate" in command) hash = addLine(hash, command.candidate);
  if ("token" in command) hash = addLine(hash, String(command.token));
  switch (command.kind) {
    case "acquire":
      for (const { lease, mode, units } of command.claims) {
        hash = addLine(addLine(addLine(hash, lease), mode), String(units));
      }
      hash = addLine(hash, command.claimant.holder);
      break;
    case "release":
      for (const { lease, token } of command.items) hash = addLine(addLine(hash, lease), String(token));
      break;
    case "guard":
      for (const { key, value } of command.changes) {
        hash = addLine(addLine(hash, key), value === undefined ? "-" : String(hashBytes(value)));
      }
      break;
    default:
      break;
  }
  return endHash(hash);
}

/** Piece by piece: putting the text together would cost several times as much as hashing it. */
function addLine(hash: number, text: string): number {
  return addTextToHash(addTextToHash(hash, "\n"), text);
}
