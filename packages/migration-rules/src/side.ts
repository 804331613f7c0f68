import { isBefore } from "./verdict.ts";
import type { MigrationParticipant, MigrationView } from "./view.ts";

const texts = new WeakMap<MigrationParticipant, string>();

/**
 * One participant for each side: those that do the same with the same controllers under the same primary lock. It is who
 * runs something, or else who joined first, because whatever is refused to it is refused to all of them.
 */
export function speakersOf({ participants, runners }: MigrationView): readonly MigrationParticipant[] {
  const running = new Set(runners.values());
  const speakers = new Map<string, MigrationParticipant>();
  for (const participant of participants) {
    const side = sideOf(participant);
    const known = speakers.get(side);
    const isFirst = known === undefined || (!running.has(known.instance) && isBefore(participant, known));
    if (isFirst || running.has(participant.instance)) speakers.set(side, participant);
  }
  return [...speakers.values()];
}

function sideOf(participant: MigrationParticipant): string {
  const known = texts.get(participant);
  if (known !== undefined) return known;
  const { controllers, digests, primary, release } = participant;
  const text = JSON.stringify([primary, release.component, release.version, [...digests], controllers]);
  texts.set(participant, text);
  return text;
}
