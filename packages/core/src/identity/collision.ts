import type { LeaseRecord } from "../record/lease.ts";
import { elapsedMs, type Position } from "../record/position.ts";

/** Two processes that claim one id. */
export interface Collision {
  /** The holder that is not the present one. */
  readonly otherHolder: string;
  /** How often the id went back to a process that had lost it. */
  readonly changes: number;
  /** The last such change. */
  readonly seen: Position;
}

/** Beat intervals after which a collision that did not go on is over. */
const collisionBeats = 6;

/**
 * Whether two processes claim one id. A restart takes the id once and the former process is never heard of again; if
 * it claims the id back, two are alive. The history of the record shows it, so every replica sees the same, also after
 * a restart of its own. Over when nobody claimed it back for six beats.
 */
export function collisionOf(record: LeaseRecord, beatIntervalMs: number, now: number): Collision | undefined {
  const grants = record.history.filter(({ kind }) => kind === "granted");
  const present = grants.at(-1)?.holder;
  const known = new Set<string>();
  let before: string | undefined;
  let changes = 0;
  let seen: Position | undefined;
  for (const { holder, position } of grants) {
    if (holder !== before && known.has(holder)) {
      changes += 1;
      seen = position;
    }
    known.add(holder);
    before = holder;
  }
  const otherHolder = grants.findLast(({ holder }) => holder !== present)?.holder;
  if (seen === undefined || otherHolder === undefined) return undefined;
  return elapsedMs(seen, now) > collisionBeats * beatIntervalMs ? undefined : { otherHolder, changes, seen };
}
