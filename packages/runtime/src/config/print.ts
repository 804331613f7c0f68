import { formatDuration, redactLogins } from "@tenure/kernel";
import type { Setting } from "./load.ts";
import { table } from "./table.ts";

/** What stands for a secret wherever a configuration is shown. */
export const redacted = "(redacted)";

/** The configuration as `--print-config` shows it: key, value and source in columns, secrets hidden. */
export function printConfig(settings: readonly Setting[]): string {
  const rows = settings.map((setting) => [setting.key, textOf(shown(setting)), setting.where]);
  return table([["KEY", "VALUE", "SOURCE"], ...rows]);
}

/** The same for programs: an object of `{ value, source, where }` by key. */
export function printConfigJson(settings: readonly Setting[]): string {
  const entries = settings.map((setting) => {
    const { key, source, where } = setting;
    return [key, { value: shown(setting) ?? null, source, where }];
  });
  return `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`;
}

type Shown = string | number | boolean | readonly string[] | undefined;

function shown({ field, value }: Setting): Shown {
  if (value === undefined) return undefined;
  if (field.kind === "secret") return redacted;
  if (field.kind === "duration" && typeof value === "number") return formatDuration(value);
  if (typeof value === "string") return redactLogins(value);
  return typeof value === "object" ? value.map(redactLogins) : value;
}

function textOf(value: Shown): string {
  if (value === undefined) return "-";
  return typeof value === "object" ? value.join(",") : String(value);
}
