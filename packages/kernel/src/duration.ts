import { invalid } from "./fault.ts";

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Milliseconds of a duration such as `250ms`, `10s`, `1m30s` or `1.5h`. A bare number is refused, because its unit
 * would be a guess; so are negative ones and repeated or ascending units.
 */
export function parseDuration(text: string, field = "duration"): number {
  if (text === "0") return 0;
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) throw malformed(text, field);
  let totalMs = 0;
  let previousMs = Number.POSITIVE_INFINITY;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    const scale = unitMs[unit ?? ""] ?? 0;
    if (scale >= previousMs) throw malformed(text, field);
    previousMs = scale;
    totalMs += Number(amount) * scale;
  }
  if (!Number.isSafeInteger(Math.round(totalMs))) throw malformed(text, field);
  return totalMs;
}

function malformed(text: string, field: string): Error {
  return invalid([{ field, rule: "must be a duration such as 250ms, 10s, 1m30s or 1h", value: JSON.stringify(text) }]);
}

/** The shortest exact text of a duration, in the form that {@link parseDuration} reads. */
export function formatDuration(durationMs: number): string {
  if (durationMs === 0) return "0s";
  let restMs = durationMs;
  let text = "";
  for (const [unit, scale] of [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
  ] as const) {
    const count = Math.floor(restMs / scale);
    if (count > 0) text += `${count}${unit}`;
    restMs -= count * scale;
  }
  if (restMs === 0) return text;
  if (restMs >= 1000) return `${text}${Number((restMs / 1000).toFixed(3))}s`;
  return `${text}${Number(restMs.toFixed(3))}ms`;
}
