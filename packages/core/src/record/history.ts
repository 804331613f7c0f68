import type { HoldOrigin, TermEndReason } from "./hold.ts";
import type { Position } from "./position.ts";
import type { Transition, TransitionDetails, TransitionKind } from "./transition.ts";

/** The numbers of a line's kind and cause in its code; only this process reads them. */
const kindNumbers: Readonly<Record<TransitionKind, number>> = {
  created: 0,
  granted: 1,
  elected: 2,
  ended: 3,
  endOfTermMarked: 4,
  endOfTermCleared: 5,
  strategyChanged: 6,
  eligibilityChanged: 7,
  updated: 8,
  deleted: 9,
  restored: 10,
};

const causeNumbers: Readonly<Record<HoldOrigin | TermEndReason, number>> = {
  acquired: 1,
  elected: 2,
  fallback: 3,
  written: 4,
  stolen: 5,
  released: 6,
  expired: 7,
  ended: 8,
  preempted: 9,
  deleted: 10,
  steppedDown: 11,
  revoked: 12,
  notAccepted: 13,
  collected: 14,
};

const kinds = namesOf(kindNumbers);
/** Number 0 is no cause. */
const causes = namesOf(causeNumbers);

/** What a cause's number, a count and a surplus are multiplied by in a code, which stays below 2^31: a small integer. */
const causeFactor = 16;
const countFactor = causeFactor * causeFactor;
const surplusFactor = countFactor * 4_096;

/** Most lines of a history: what has its place in a code. */
const mostLines = 2_047;

/** What a line says, as plain data or as a history says it. */
export type Said = Omit<Transition, "details"> & { readonly details?: TransitionDetails | undefined };

/**
 * A lease's history, newest line first: what it says and the history before it. About half the room that lists of plain
 * lines take, and what several copies of a record have in common is there once. Never changed.
 */
export class History {
  readonly position: Position;
  readonly author: string;
  readonly before: History | undefined;
  /** Kind, cause, how many lines count, this one among them, and how many older ones are still linked. */
  private readonly code: number;

  constructor({ author, cause, kind, position }: Said, count: number, surplus: number, before: History | undefined) {
    this.position = position;
    this.author = author;
    this.before = before;
    const causeNumber = cause === undefined ? 0 : causeNumbers[cause];
    this.code = kindNumbers[kind] + causeNumber * causeFactor + count * countFactor + surplus * surplusFactor;
  }

  /** How many lines it has. */
  get count(): number {
    return Math.floor((this.code % surplusFactor) / countFactor);
  }

  /** How many lines are linked that no longer count. */
  get surplus(): number {
    return Math.floor(this.code / surplusFactor);
  }

  get kind(): TransitionKind {
    return kinds[this.code % causeFactor] as TransitionKind;
  }

  get cause(): Transition["cause"] {
    return causes[Math.floor(this.code / causeFactor) % causeFactor];
  }

  get holder(): string {
    return "";
  }

  get token(): bigint {
    return 0n;
  }

  get details(): TransitionDetails | undefined {
    return undefined;
  }

  /** The newest line as plain data. */
  get line(): Transition {
    const { author, cause, details, holder, kind, position, token } = this;
    const line = { position, kind, holder, token, author, cause };
    return details === undefined ? line : { ...line, details };
  }
}

/** A history whose newest line is about a term. */
class TermHistory extends History {
  private readonly ofHolder: string;
  private readonly ofToken: bigint;

  constructor(line: Said, count: number, surplus: number, before: History | undefined) {
    super(line, count, surplus, before);
    this.ofHolder = line.holder;
    this.ofToken = line.token;
  }

  override get holder(): string {
    return this.ofHolder;
  }

  override get token(): bigint {
    return this.ofToken;
  }
}

/** A history whose newest line says more. */
class DetailedHistory extends TermHistory {
  private readonly more: TransitionDetails | undefined;

  constructor(line: Said, count: number, surplus: number, before: History | undefined) {
    super(line, count, surplus, before);
    this.more = line.details;
  }

  override get details(): TransitionDetails | undefined {
    return this.more;
  }
}

/** The history with one more line, of which at most `most` count, and at least this one. */
export function extendHistory(before: History | undefined, line: Said, most: number): History {
  if (before === undefined) return link(line, 1, 0, undefined);
  const count = Math.max(1, Math.min(before.count + 1, most, mostLines));
  const surplus = before.surplus + before.count + 1 - count;
  if (surplus * countedPerSurplus <= count) return link(line, count, surplus, before);
  return link(line, count, 0, newest(before, count - 1));
}

/** The history of these lines, oldest first. */
export function historyOf(lines: readonly Transition[]): History | undefined {
  let history: History | undefined;
  for (const line of lines) history = extendHistory(history, line, mostLines);
  return history;
}

/** The lines of a history, oldest first; only the newest ones as long as `isWanted` says so. */
export function linesOf(
  history: History | undefined,
  isWanted: (history: History) => boolean = () => true,
): readonly Transition[] {
  const lines: Transition[] = [];
  let left = history?.count ?? 0;
  for (let each = history; each !== undefined && left > 0 && isWanted(each); each = each.before, left -= 1) {
    lines.push(each.line);
  }
  return lines.reverse();
}

/** The newest line of a history that is wanted, as it is kept: nothing is made for it. */
export function newestLine(history: History | undefined, isWanted: (history: History) => boolean): History | undefined {
  let left = history?.count ?? 0;
  for (let each = history; each !== undefined && left > 0; each = each.before, left -= 1) {
    if (isWanted(each)) return each;
  }
  return undefined;
}

/** Lines that no longer count are left linked until there is one of them for so many that do. */
const countedPerSurplus = 1;

/** The newest `count` lines of a history, linked anew. */
function newest(history: History, count: number): History | undefined {
  const lines: History[] = [];
  for (let each: History | undefined = history; each !== undefined && lines.length < count; each = each.before) {
    lines.push(each);
  }
  let linked: History | undefined;
  for (let place = lines.length - 1; place >= 0; place -= 1) {
    linked = link(lines[place] as History, lines.length - place, 0, linked);
  }
  return linked;
}

function link(line: Said, count: number, surplus: number, before: History | undefined): History {
  if (line.details !== undefined) return new DetailedHistory(line, count, surplus, before);
  const isOfTerm = line.holder !== "" || line.token !== 0n;
  return isOfTerm ? new TermHistory(line, count, surplus, before) : new History(line, count, surplus, before);
}

function namesOf<Name extends string>(numbers: Readonly<Record<Name, number>>): readonly (Name | undefined)[] {
  const names: (Name | undefined)[] = [];
  for (const name of Object.keys(numbers) as Name[]) names[numbers[name]] = name;
  return names;
}
