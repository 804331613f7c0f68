import { Fault, parseDuration } from "@tenure/kernel";
import type { ConfigValue, DurationField, Field, IntegerField, ListField, Pattern } from "./field.ts";

/** A value that keeps its field's rule, or the rule that it breaks. */
export type Parsed =
  | { readonly kind: "value"; readonly value: ConfigValue }
  | { readonly kind: "broken"; readonly rule: string };

/**
 * Reads one value. Flags and variables give text (a repeated flag gives several), files give whatever YAML makes of
 * it, so that `http-port: 8369` and `http-port: "8369"` are the same.
 */
export function parseValue(field: Field, raw: unknown): Parsed {
  switch (field.kind) {
    case "string":
      return isText(raw) ? matching(field.pattern, String(raw)) : broken("must be text");
    case "secret":
    case "path":
      return isText(raw) && raw !== "" ? valued(String(raw)) : broken("must be text that is not empty");
    case "duration":
      return parseDurationField(field, raw);
    case "integer":
      return parseIntegerField(field, raw);
    case "boolean":
      return parseBoolean(raw);
    case "choice":
      if (typeof raw === "string" && field.choices.includes(raw)) return valued(raw);
      return broken(`must be one of ${field.choices.join(", ")}`);
    case "list":
      return parseList(field, raw);
  }
}

function parseDurationField(field: DurationField, raw: unknown): Parsed {
  if (raw !== 0 && typeof raw !== "string") return broken("must be a duration such as 250ms, 10s, 1m30s or 1h");
  try {
    const durationMs = parseDuration(String(raw));
    if (field.min !== undefined && durationMs < parseDuration(field.min))
      return broken(`must be at least ${field.min}`);
    if (field.max !== undefined && durationMs > parseDuration(field.max)) return broken(`must be at most ${field.max}`);
    return valued(durationMs);
  } catch (thrown) {
    const rule = thrown instanceof Fault ? thrown.details.violations?.[0]?.rule : undefined;
    return broken(rule ?? "must be a duration such as 10s");
  }
}

function parseIntegerField(field: IntegerField, raw: unknown): Parsed {
  const rule = `must be a whole number from ${field.min} to ${field.max}`;
  const isWhole = typeof raw === "number" ? Number.isSafeInteger(raw) : typeof raw === "string" && /^-?\d+$/.test(raw);
  const value = Number(raw);
  return isWhole && value >= field.min && value <= field.max ? valued(value) : broken(rule);
}

function parseBoolean(raw: unknown): Parsed {
  if (raw === true || raw === "true") return valued(true);
  if (raw === false || raw === "false") return valued(false);
  return broken("must be true or false");
}

function parseList(field: ListField, raw: unknown): Parsed {
  const parts = Array.isArray(raw) ? raw : [raw];
  if (!parts.every(isText)) return broken("must be a list of texts");
  const items = parts.flatMap((part) => String(part).split(",")).map((item) => item.trim());
  if (items.some((item) => item === "")) return broken("must be a list without empty items");
  for (const item of items) {
    const parsed = matching(field.pattern, item);
    if (parsed.kind === "broken") return parsed;
  }
  return valued(items);
}

/** YAML reads `instance: 42` as a number, where text is meant. */
function isText(raw: unknown): raw is string | number {
  return typeof raw === "string" || (typeof raw === "number" && Number.isFinite(raw));
}

function matching(pattern: Pattern | undefined, text: string): Parsed {
  return pattern === undefined || pattern.expression.test(text) ? valued(text) : broken(pattern.rule);
}

function valued(value: ConfigValue): Parsed {
  return { kind: "value", value };
}

function broken(rule: string): Parsed {
  return { kind: "broken", rule };
}
