import type { Duration, LeaseKey, Strategy, StrategySetting, Timestamp } from "@tenure/contracts";
import { durationToMs, StrategyKind, timestampToMicros } from "@tenure/contracts";
import { formatDuration } from "@tenure/kernel";

/** An enum of the API: names and numbers. */
type ApiEnum = Readonly<Record<string, number>>;

/** The value of an enum as a word: `LOCK_DELAY` becomes `lock-delay`; the unspecified one is empty. */
export function word(of: ApiEnum, value: number): string {
  const name = Object.entries(of).find(([, number]) => number === value)?.[0] ?? `number-${value}`;
  return name === "UNSPECIFIED" ? "" : name.toLowerCase().replaceAll("_", "-");
}

/** `namespace/name`. */
export function leaseText(key: LeaseKey | undefined): string {
  return key === undefined ? "" : `${key.namespace}/${key.name}`;
}

/** A number of the API that is 0 when there is none. */
export function countText(value: bigint | number): string {
  return value === 0 || value === 0n ? "" : String(value);
}

/** Wall-clock ms of an instant; undefined if it is absent. */
export function wallMs(at: Timestamp | undefined): number | undefined {
  return at === undefined ? undefined : Number(timestampToMicros(at)) / 1_000;
}

/** An instant for people, to the second, in UTC. */
export function instantText(at: Timestamp | undefined): string {
  const ms = wallMs(at);
  return ms === undefined ? "" : `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** How long ago an instant was. */
export function ageText(at: Timestamp | undefined, nowMs: number): string {
  const ms = wallMs(at);
  return ms === undefined ? "" : spanText(Math.max(0, nowMs - ms));
}

/** A duration of the API. */
export function durationText(duration: Duration | undefined): string {
  return duration === undefined ? "" : spanText(durationToMs(duration));
}

/** A span for people: the two largest units. */
export function spanText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return formatDuration(ms < 10_000 ? Math.round(ms / 100) * 100 : Math.round(ms / 1_000) * 1_000);
  return formatDuration(ms < 86_400_000 ? Math.round(ms / 1_000) * 1_000 : Math.round(ms / 3_600_000) * 3_600_000);
}

const strategyNames: Readonly<Record<number, string>> = {
  [StrategyKind.OLDEST_COMPATIBILITY_VERSION]: "OldestCompatibilityVersion",
  [StrategyKind.NEWEST_COMPATIBILITY_VERSION]: "NewestCompatibilityVersion",
  [StrategyKind.PRIORITY]: "Priority",
  [StrategyKind.NO_COORDINATION]: "NoCoordination",
};

/** A strategy as it is typed. */
export function strategyText(strategy: Strategy | undefined): string {
  if (strategy === undefined) return "";
  if (strategy.kind === StrategyKind.VENDOR) return strategy.vendor;
  if (strategy.kind === StrategyKind.EXPRESSION) return `Expression(${strategy.expression})`;
  return strategyNames[strategy.kind] ?? "";
}

/** A lease's strategy and who set it. */
export function settingText(setting: StrategySetting | undefined): string {
  if (setting === undefined) return "";
  const by = setting.author === "" ? "" : `, set by ${setting.author}`;
  const why = setting.reason === "" ? "" : `: ${setting.reason}`;
  return `${strategyText(setting.strategy)}${by}${why}`;
}

/** Labels as they are typed. */
export function pairsText(pairs: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(pairs ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}
