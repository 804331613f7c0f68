import { threeDigits } from "./table.ts";

/** One bar: a value, and the least and greatest of the rounds behind it. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly least: number;
  readonly greatest: number;
  /** Bars of one kind have one colour. */
  readonly kind: string;
}

const barHeight = 22;
const labelWidth = 230;
const plotWidth = 520;
const numberWidth = 110;

/** Bars as a picture that needs nothing else: SVG for a page. Empty where there is nothing to show. */
export function renderBars(title: string, bars: readonly Bar[]): string {
  const shown = bars.filter(({ value }) => Number.isFinite(value));
  if (shown.length === 0) return "";
  const most = Math.max(...shown.map(({ greatest }) => greatest));
  const height = shown.length * barHeight + 30;
  const width = labelWidth + plotWidth + numberWidth;
  const lines = shown.map((bar, index) => renderBar(bar, 28 + index * barHeight, plotWidth / most));
  return [
    `<svg viewBox="0 0 ${width} ${height}" width="${width}" role="img">`,
    `<text x="0" y="16" class="title">${escapeText(title)}</text>`,
    ...lines,
    "</svg>",
  ].join("\n");
}

function renderBar({ greatest, kind, label, least, value }: Bar, y: number, scale: number): string {
  const middle = y + barHeight / 2;
  const end = labelWidth + value * scale;
  return [
    `<text x="${labelWidth - 8}" y="${middle + 4}" class="label">${escapeText(label)}</text>`,
    `<rect x="${labelWidth}" y="${y + 3}" width="${(value * scale).toFixed(1)}" height="${barHeight - 6}" class="${kind}"/>`,
    `<line x1="${(labelWidth + least * scale).toFixed(1)}" x2="${(labelWidth + greatest * scale).toFixed(1)}" y1="${middle}" y2="${middle}" class="spread"/>`,
    `<text x="${(end + 6).toFixed(1)}" y="${middle + 4}" class="number">${threeDigits(value)}</text>`,
  ].join("");
}

/** Text that a page shows as it is. */
export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
