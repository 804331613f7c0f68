/** One line of a manager, as examples/controller-manager.mjs prints it. */
export interface Line {
  readonly kind: string;
  readonly controller?: string;
  readonly message?: string;
  readonly token?: string;
  /** When it was printed, on the machine's monotonic clock, which all processes share. */
  readonly atNs: string;
  /** Just before a guarded write was sent. */
  readonly sentNs?: string;
  /** The log position of a guarded write. */
  readonly revision?: string;
  readonly lock?: { readonly namespace: string; readonly name: string };
  /** Why a lock ended. */
  readonly end?: { readonly kind: string };
  readonly alarm?: { readonly kind: number; readonly controller: string; readonly message: string };
}

/** A time during which one process ran a controller, by what it wrote. */
export interface Period {
  readonly controller: string;
  /** The process: component, version and node. */
  readonly runner: string;
  readonly token: bigint;
  /** The name of its lock. */
  readonly lock: string;
  readonly fromNs: bigint;
  /** When it last acted. */
  untilNs: bigint;
  /** The positions of its accepted writes in the log. */
  readonly revisions: bigint[];
  isOver: boolean;
}

const onRequest: ReadonlySet<string> = new Set(["stopped", "released", "end-of-term"]);

/** What all managers of a control plane have done, by their own word and by the log's. */
export class Journal {
  readonly #periods = new Map<string, Period>();
  readonly #isStopCounted: boolean;
  #isLost = false;

  /**
   * A controller acts until its last write was sent, or with `isStopCounted` until it says that it has stopped: a
   * process that is paused may say so late.
   */
  constructor(isStopCounted = false) {
    this.#isStopCounted = isStopCounted;
  }

  /** Whether any lock ended otherwise than because its manager was asked to stop, or to hand it over. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Takes a line of a process. */
  take(runner: string, line: Line): void {
    if (line.kind === "lock-ended" && !onRequest.has(line.end?.kind ?? "")) this.#isLost = true;
    if (line.controller === undefined || line.token === undefined) return;
    const key = `${line.controller} ${line.token}`;
    if (line.kind === "controller-started") {
      const { controller, lock } = line;
      const at = BigInt(line.atNs);
      this.#periods.set(key, {
        controller,
        runner,
        token: BigInt(line.token),
        lock: lock?.name ?? "",
        fromNs: at,
        untilNs: at,
        revisions: [],
        isOver: false,
      });
    }
    const period = this.#periods.get(key);
    if (period === undefined || period.runner !== runner) throw new Error(`${runner} acts under a term of another`);
    if (line.kind === "wrote") {
      // What counts is when it acted: the answer of a write may have been read after a pause.
      period.untilNs = BigInt(line.sentNs ?? 0);
      period.revisions.push(BigInt(line.revision ?? 0));
    }
    if (line.kind === "controller-stopped") {
      period.isOver = true;
      if (this.#isStopCounted) period.untilNs = BigInt(line.atNs);
    }
  }

  /** A process is gone, and what it ran with it. */
  end(runner: string): void {
    for (const period of this.#periods.values()) if (period.runner === runner) period.isOver = true;
  }

  /** The periods of a controller, in the order of its tokens. */
  periods(controller: string): readonly Period[] {
    const own = [...this.#periods.values()].filter((period) => period.controller === controller);
    return own.toSorted((left, right) => (left.token < right.token ? -1 : 1));
  }

  /** The period of a controller that is not over and has written. */
  running(controller: string): Period | undefined {
    return this.periods(controller).findLast(({ isOver, revisions }) => !isOver && revisions.length > 0);
  }

  /** Where two periods of a controller overlap, by the clock or by the log; there must be none. */
  overlaps(controller: string): readonly string[] {
    return pairs(this.periods(controller)).flatMap(([earlier, later]) => {
      const isApart = earlier.untilNs < later.fromNs && lastOf(earlier) < firstOf(later);
      return isApart ? [] : [`${controller}: ${shown(earlier)} and ${shown(later)}`];
    });
  }

  /** The longest time without a runner, in ms: from the last act of a period to the begin of the next. */
  longestGapMs(controller: string): number {
    const gaps = pairs(this.periods(controller)).map(([earlier, later]) => later.fromNs - earlier.untilNs);
    return gaps.reduce((longest, gap) => Math.max(longest, Number(gap) / 1e6), 0);
  }
}

/** A period as one line for people. */
export function shown({ fromNs, lock, runner, token, untilNs }: Period): string {
  const seconds = (ns: bigint) => (Number(ns) / 1e9).toFixed(1);
  return `${runner} under ${lock} (${token}, ${seconds(fromNs)} s to ${seconds(untilNs)} s)`;
}

const firstOf = ({ revisions }: Period) => revisions[0] ?? 0n;
const lastOf = ({ revisions }: Period) => revisions.at(-1) ?? 0n;

/** Those that wrote, each with the next. */
function pairs(periods: readonly Period[]): readonly (readonly [Period, Period])[] {
  const written = periods.filter(({ revisions }) => revisions.length > 0);
  return written.slice(1).flatMap((later, place) => {
    const earlier = written[place];
    return earlier === undefined ? [] : [[earlier, later] as const];
  });
}
