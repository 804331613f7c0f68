/** Takes one line of text for the person who waits. */
export type Report = (line: string) => void;

/** Percentages between two lines: a download tells of itself ten times, whatever its size. */
const stepPercent = 10;

/** Reports a growing percentage in steps; what is repeated or goes back is left out. */
export function percentReporter(what: string, report: Report): (percent: number) => void {
  let next = stepPercent;
  return (percent) => {
    if (percent < next || percent > 100) return;
    next = Math.floor(percent / stepPercent) * stepPercent + stepPercent;
    report(`${what}: ${Math.floor(percent)} %`);
  };
}
