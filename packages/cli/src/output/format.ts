import { stringify } from "yaml";

/** How records are printed. */
export const formats = ["table", "wide", "json", "jsonl", "yaml", "name"] as const;

/** One of {@link formats}. */
export type Format = (typeof formats)[number];

/** Whether a format is for people. */
export function isForPeople(format: Format): format is "table" | "wide" {
  return format === "table" || format === "wide";
}

/** One value, or each of a list, in a format for programs; without a line end. */
export function formatValue(value: unknown, format: "json" | "jsonl" | "yaml"): string {
  if (format === "yaml") return stringify(value).trimEnd();
  if (format === "json") return JSON.stringify(value, undefined, 2);
  return (Array.isArray(value) ? value : [value]).map((one) => JSON.stringify(one)).join("\n");
}
