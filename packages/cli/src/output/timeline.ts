/** A stretch of one lane. */
export interface Stretch {
  readonly lane: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether it goes on. */
  readonly isOpen: boolean;
}

/** Fewer characters than this show nothing. */
const leastWidth = 20;

/** Lanes over time, one line each, with the times at both ends above. Every stretch has at least one mark. */
export function timelineLines(stretches: readonly Stretch[], columns: number): readonly string[] {
  if (stretches.length === 0) return [];
  const lanes = [...new Set(stretches.map(({ lane }) => lane))].toSorted();
  const label = Math.max(...lanes.map((lane) => lane.length));
  const width = Math.max(leastWidth, columns - label - 3);
  const startMs = Math.min(...stretches.map(({ fromMs }) => fromMs));
  const endMs = Math.max(...stretches.map(({ toMs }) => toMs), startMs + 1);
  const place = (ms: number): number => Math.min(width - 1, Math.floor(((ms - startMs) / (endMs - startMs)) * width));
  const lines = lanes.map((lane) => {
    const cells = new Array<string>(width).fill("·");
    for (const { fromMs, isOpen, toMs } of stretches.filter((stretch) => stretch.lane === lane)) {
      const last = Math.max(place(fromMs), isOpen ? width - 1 : place(toMs));
      cells.fill("█", place(fromMs), last + 1);
      if (isOpen) cells[width - 1] = "▶";
    }
    return `${lane.padEnd(label)}  ${cells.join("")}`;
  });
  const [from, to] = [clockText(startMs), clockText(endMs)];
  const scale = `${" ".repeat(label)}  ${from}${to.padStart(width - from.length)}`;
  return [scale, ...lines];
}

function clockText(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}
