import { isBefore } from "./verdict.ts";
import type { MigrationParticipant, MigrationView } from "./view.ts";

const texts = new WeakMap<MigrationParticipant, string>();

/**
 * One participant for each side: those that do the same with the same controllers under the same primary lock. It is who
 * runs something or holds the primary lock, because nobody else of them can run anything, or else who joined first.
 */
export function speakersOf({ holders, participants, runners }: MigrationView): readonly MigrationParticipant[] {
  const running = new Set(runners.values());
  const weightOf = ({ instance, primary }: MigrationParticipant) =>
    (running.has(instance) ? 2 : 0) + (holders.get(primary) === instance ? 1 : 0);
  const speakers = new Map<string, MigrationParticipant>();
  for (const participant of participants) {
    const side = sideOf(participant);
    const known = speakers.get(side);
    const more = weightOf(participant) - (known ? weightOf(known) : -1);
    if (known === undefined || more > 0 || (more === 0 && isBefore(participant, known)))
      speakers.set(side, participant);
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
